/* Which way in: by exported symbols or by the adapters' tables. Each call is recorded by one of them only. */
#define _GNU_SOURCE
#include "../dlsym.h"
#include "ur.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {UR_NAME_TEXTS};
const char *const ur_releases[UR_RELEASES] = {UR_RELEASE_TEXTS};
const struct akv_producer akv_producer = {"ur", "akv_ur " AKV_VERSION, names, UR_NAMES};

_Atomic(void *) ur_real[UR_WAYS][UR_NAMES];
_Atomic int ur_path = UR_UNDECIDED;
int ur_timing = UR_ASIS;

static const char *base_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path ? path : "";
}

/* Symbols that a library leaves undefined stand before those in its hash table. */
static bool imports_ur(const struct dl_phdr_info *object) {
  const ElfW(Dyn) *dynamic = NULL;
  for (int n = 0; n < object->dlpi_phnum; n++)
    if (object->dlpi_phdr[n].p_type == PT_DYNAMIC)
      dynamic = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[n].p_vaddr);
  const ElfW(Sym) *symbols = NULL;
  const char *strings = NULL;
  const uint32_t *hash = NULL, *gnu_hash = NULL;
  for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = (const void *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_STRTAB) strings = (const void *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_HASH) hash = (const void *)dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_GNU_HASH) gnu_hash = (const void *)dynamic->d_un.d_ptr;
  }
  uint32_t count = hash ? hash[1] : gnu_hash ? gnu_hash[1] : 0;
  if (!symbols || !strings) return false;
  for (uint32_t n = 1; n < count; n++) {
    const char *name = strings + symbols[n].st_name;
    if (symbols[n].st_shndx == SHN_UNDEF && !strcmp(name, "urAdapterGet")) return true;
  }
  return false;
}

struct found {
  bool sycl, imports;
};

static int look_at(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  struct found *found = data;
  if (strncmp(base_name(object->dlpi_name), "libsycl.so", 10)) return 0;
  found->sycl = true;
  found->imports |= imports_ur(object);
  return 0;
}

static int chosen(enum ur_path where_asked) {
  if (!akv_on()) return UR_NEITHER;
  const char *forced = getenv("AKV_UR_PATH");
  if (forced && !strcmp(forced, "exports")) return UR_EXPORTS;
  if (forced && !strcmp(forced, "tables")) return UR_TABLES;
  if (forced && *forced) akv_say("AKV_UR_PATH=%s is neither exports nor tables; the rule decides", forced);
  struct found found = {false, false};
  dl_iterate_phdr(look_at, &found);
  /* Without SYCL, whoever came first: a program of its own that calls the loader, or a loader that is inside one. */
  if (!found.sycl) return where_asked;
  return found.imports ? UR_EXPORTS : UR_TABLES;
}

static void read_timing(void) {
  const char *timing = getenv("AKV_TIMING");
  if (!timing || !*timing || !strcmp(timing, "asis")) return;
  if (!strcmp(timing, "on"))
    ur_timing = UR_ON;
  else if (!strcmp(timing, "off"))
    ur_timing = UR_OFF;
  else
    akv_say("AKV_TIMING=%s is none of on, off, asis; asis is used", timing);
}

int ur_decide(enum ur_path where_asked) {
  int before = errno, undecided = UR_UNDECIDED, path = chosen(where_asked);
  read_timing();
  if (!atomic_compare_exchange_strong(&ur_path, &undecided, path)) path = undecided;
  errno = before;
  return path;
}

static int32_t missing(void) { return UR_RESULT_ERROR_UNINITIALIZED; }

/* The loader of way 0. RTLD_NEXT finds nothing where it was opened locally, so it is asked for by its soname. */
static void *loader(void) {
  static _Atomic(void *) known;
  void *handle = atomic_load(&known);
  if (!handle) atomic_store(&known, handle = dlopen("libur_loader.so.0", RTLD_LAZY | RTLD_NOLOAD));
  return handle;
}

static void *resolve(unsigned name) {
  void *real = loader() ? akv_real_dlsym()(loader(), names[name]) : NULL;
  if (!real) real = akv_real_dlsym()(RTLD_NEXT, names[name]);
  if (real) atomic_store_explicit(&ur_real[0][name], real, memory_order_release);
  return real;
}

void *ur_own(unsigned way, unsigned name) {
  void *real = atomic_load_explicit(&ur_real[way][name], memory_order_acquire);
  if (real || way) return real;
  int before = errno;
  real = resolve(name);
  errno = before;
  return real;
}

/* The release of the loader, whose prototypes the wrappers must have: one with others would hand on other arguments than
 * it got. -1: unknown. */
static int release_of(const void *function) {
  static _Atomic int known; /* 0: not looked yet; else the release + 2 */
  int found = atomic_load(&known);
  if (found) return found - 2;
  Dl_info info;
  char comment[256] = "";
  const char *file = dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
  if (*file) ur_comment(file, comment, sizeof comment);
  found = 1;
  for (int n = 0; n < UR_RELEASES; n++) {
    const char *at = strstr(comment, ur_releases[n]);
    /* "2025.3" stands for all of 2025.3.x; a release by its full number for itself. */
    if (at && at > comment && at[-1] == ' ' && strchr(". ", at[strlen(ur_releases[n])])) found = n + 2;
  }
  if (found == 1) akv_notef("exports=unknown release of %s %s", base_name(file), comment);
  atomic_store(&known, found);
  return found - 2;
}

void *ur_first(unsigned way, unsigned name) {
  int before = errno, path = atomic_load_explicit(&ur_path, memory_order_acquire);
  if (path == UR_UNDECIDED) path = ur_decide(UR_EXPORTS);
  void *real = ur_own(way, name), *leads = real;
  if (real && path == UR_EXPORTS) {
    int release = release_of(real);
    leads = release < 0 ? ur_stubs[name] : ur_wrappers_0[release][name];
  }
  if (real) atomic_store_explicit(&ur_entry[name], leads, memory_order_release);
  errno = before;
  return real ? leads : (void *)missing;
}

void *ur_counted(unsigned way, unsigned name) {
  int before = errno;
  akv_count((uint16_t)name);
  void *real = ur_own(way, name);
  errno = before;
  return real;
}
