/* The second way in: the function table of an adapter.
 *
 * A loader fetches `urGetAdapterProcAddrTable` by name and calls `urAdapterGet` out of the table that it fills. All later
 * calls jump through the table that the first word of each handle points at, so that one is patched, once urAdapterGet
 * gave a handle. Before anything is touched, the adapter's file must be known by its bytes, and every entry of its table
 * must be what the adapter's own `urGet...ProcAddrTable` functions give: else nothing is installed, and a note says so.
 */
#define _GNU_SOURCE
#include "../dlsym.h"
#include "ur.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct ur_part {
  const char *function; /* what fills it; "-": nothing does */
  uint16_t count;
};
struct ur_build {
  const char *file;
  uint64_t hash;
};
struct ur_layout {
  uint16_t release, entries, parts, builds;
  const int16_t *entry; /* name ids; -1: nothing names the entry */
  const struct ur_part *part;
  const struct ur_build *build;
};
#include "layouts.inc"

#define GET_TABLE "urGetAdapterProcAddrTable"
enum { API_VERSION = 12, ENTRIES = 512, ADAPTERS = UR_WAYS - 1 };
#define CANARY UINT64_C(0xA5A5A5A5DEADBEEF)

typedef int32_t get_table_fn(uint32_t version, void **table);
typedef int32_t adapter_get_fn(uint32_t entries, void **adapters, uint32_t *count);

static struct adapter {
  _Atomic(get_table_fn *) get_table; /* the adapter's own; NULL: no adapter here yet */
  _Atomic(adapter_get_fn *) adapter_get;
  const struct ur_layout *layout; /* NULL: unknown */
  char file[64];
  void *expected[ENTRIES]; /* what the whole table must hold */
} adapters[ADAPTERS];

static ur_wrappers *const wrappers[ADAPTERS] = {ur_wrappers_1, ur_wrappers_2, ur_wrappers_3, ur_wrappers_4};
_Static_assert(ADAPTERS == 4, "as many wrappers as adapters");

/* Taken when an adapter is loaded, never on a call. */
static atomic_flag loading = ATOMIC_FLAG_INIT;
static void lock(void) {
  while (atomic_flag_test_and_set_explicit(&loading, memory_order_acquire)) sched_yield();
}
static void unlock(void) { atomic_flag_clear_explicit(&loading, memory_order_release); }

/* --- which adapter is it? ---------------------------------------------------------------------------------------- */

/* FNV-1a of the file's bytes; the adapters carry no build id. */
static uint64_t hash_of(const char *path) {
  uint64_t hash = 0xCBF29CE484222325u;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat file;
  if (fd < 0) return 0;
  if (fstat(fd, &file) || !file.st_size) {
    close(fd);
    return 0;
  }
  const unsigned char *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) return 0;
  for (size_t n = 0; n < (size_t)file.st_size; n++) hash = (hash ^ bytes[n]) * 0x100000001B3u;
  munmap((void *)bytes, (size_t)file.st_size);
  return hash;
}

static const struct ur_layout *layout_of(const char *file, uint64_t hash) {
  for (size_t n = 0; n < sizeof layouts / sizeof *layouts; n++)
    for (unsigned b = 0; b < layouts[n].builds; b++)
      if (layouts[n].build[b].hash == hash && !strcmp(layouts[n].build[b].file, file)) return &layouts[n];
  return NULL;
}

/* Ask each of the adapter's own functions what it fills. The buffer is larger than any part, and what is not written
 * keeps its canary, so that a part of another length is seen. NULL, or what does not agree. */
static const char *ask_parts(struct adapter *adapter, void *library) {
  const struct ur_layout *layout = adapter->layout;
  if (layout->entries > ENTRIES || layout->entry[0] != N_urAdapterGet) return "layout";
  unsigned at = 0;
  for (unsigned p = 0; p < layout->parts; at += layout->part[p++].count) {
    const char *function = layout->part[p].function;
    get_table_fn *fill = *function == '-' ? NULL : (get_table_fn *)akv_real_dlsym()(library, function);
    if (!fill) continue; /* an adapter may leave a whole part out: its entries must be empty */
    void *buffer[ENTRIES];
    for (unsigned n = 0; n < ENTRIES; n++) buffer[n] = (void *)CANARY;
    if (fill(API_VERSION, buffer)) return function;
    unsigned last = 0;
    for (unsigned n = 0; n < ENTRIES; n++)
      if (buffer[n] != (void *)CANARY) last = n + 1;
    if (last > layout->part[p].count) return function;
    for (unsigned n = 0; n < last; n++) {
      if (buffer[n] == (void *)CANARY) continue;
      if (buffer[n] && layout->entry[at + n] < 0) return function;
      adapter->expected[at + n] = buffer[n];
    }
  }
  return at == layout->entries ? NULL : "layout";
}

/* --- patching ----------------------------------------------------------------------------------------------------- */

struct range {
  uintptr_t from, to;
  bool writable;
};

static int find_range(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size;
  struct range *range = data;
  for (int n = 0; n < object->dlpi_phnum; n++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[n];
    uintptr_t from = object->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_LOAD && header->p_flags & PF_W && range->from >= from &&
        range->to <= from + header->p_memsz)
      range->writable = true;
  }
  return range->writable;
}

/* The table must lie in the data of a loaded library: a first word that is something else is not followed. */
static bool is_table(void **table, const struct ur_layout *layout) {
  struct range range = {(uintptr_t)table, (uintptr_t)(table + layout->entries), false};
  if (!table || (uintptr_t)table % sizeof(void *)) return false;
  dl_iterate_phdr(find_range, &range);
  return range.writable;
}

static void patch(unsigned way, void *handle) {
  struct adapter *adapter = &adapters[way - 1];
  const struct ur_layout *layout = adapter->layout;
  void *const *ours = wrappers[way - 1][layout->release];
  void **table = *(void ***)handle;
  bool agrees = is_table(table, layout), patched = agrees;
  for (unsigned n = 0; agrees && n < layout->entries; n++) {
    int id = layout->entry[n];
    patched &= id < 0 || !adapter->expected[n] || table[n] == ours[id];
    agrees = table[n] == adapter->expected[n] || patched;
  }
  if (!agrees) {
    akv_notef("tables=unexpected entries in %s", adapter->file);
    return;
  }
  if (patched) return;
  /* All originals before the first entry: wrappers are called from the moment that their entry is in place. */
  for (unsigned n = 0; n < layout->entries; n++)
    if (layout->entry[n] >= 0)
      atomic_store_explicit(&ur_real[way][layout->entry[n]], adapter->expected[n], memory_order_release);
  for (unsigned n = 0; n < layout->entries; n++)
    if (adapter->expected[n])
      atomic_store_explicit((_Atomic(void *) *)&table[n], ours[layout->entry[n]], memory_order_release);
  akv_notef("tables=%s %s", adapter->file, ur_releases[layout->release]);
  ur_note_adapter(way);
}

/* urAdapterGet as the loader sees it. It is not recorded: where no adapter is found there must be no file that looks
 * like a capture of something. */
static int32_t adapter_get(unsigned way, uint32_t entries, void **handles, uint32_t *count) {
  adapter_get_fn *real = atomic_load_explicit(&adapters[way - 1].adapter_get, memory_order_acquire);
  int32_t result = real(entries, handles, count);
  if (!result && entries && handles && handles[0]) {
    int before = errno;
    lock();
    patch(way, handles[0]);
    unlock();
    errno = before;
  }
  return result;
}

static int32_t get_table(unsigned way, adapter_get_fn *wrapper, uint32_t version, void **table) {
  struct adapter *adapter = &adapters[way - 1];
  int32_t result = atomic_load_explicit(&adapter->get_table, memory_order_acquire)(version, table);
  if (result || !table || table[0] != adapter->expected[0]) return result;
  atomic_store_explicit(&adapter->adapter_get, (adapter_get_fn *)table[0], memory_order_release);
  table[0] = (void *)wrapper;
  return result;
}

#define ADAPTER(way)                                                                           \
  static int32_t adapter_get_##way(uint32_t entries, void **handles, uint32_t *count) {        \
    return adapter_get(way, entries, handles, count);                                          \
  }                                                                                            \
  static int32_t get_table_##way(uint32_t version, void **table) {                             \
    return get_table(way, adapter_get_##way, version, table);                                  \
  }
ADAPTER(1)
ADAPTER(2)
ADAPTER(3)
ADAPTER(4)
static get_table_fn *const get_tables[ADAPTERS] = {get_table_1, get_table_2, get_table_3, get_table_4};

/* --- what the loader looks up ------------------------------------------------------------------------------------- */

bool akv_dlsym_wants(const char *name) { return name[0] == 'u' && name[1] == 'r' && !strcmp(name, GET_TABLE); }

static get_table_fn *meet(get_table_fn *found, const char *path) {
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  if (strncmp(file, "libur_adapter_", 14)) return found; /* a loader has a function of this name too */
  unsigned n = 0;
  for (; n < ADAPTERS; n++) {
    get_table_fn *known = atomic_load(&adapters[n].get_table);
    if (known == found && !strcmp(adapters[n].file, file)) return adapters[n].layout ? get_tables[n] : found;
    /* A place is free again once its library has been unloaded. */
    Dl_info info;
    if (!known || known == found || !dladdr((void *)known, &info)) break;
  }
  if (n == ADAPTERS) {
    akv_notef("tables=no room for %s", file);
    return found;
  }
  struct adapter *adapter = &adapters[n];
  uint64_t hash = hash_of(path);
  adapter->layout = layout_of(file, hash);
  memset(adapter->expected, 0, sizeof adapter->expected);
  snprintf(adapter->file, sizeof adapter->file, "%s", file);
  if (!adapter->layout) {
    akv_notef("tables=unknown layout of %s %016llx", file, (unsigned long long)hash);
  } else {
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    const char *differs = library ? ask_parts(adapter, library) : "library";
    if (differs) {
      akv_notef("tables=unknown layout of %s %016llx (%s)", file, (unsigned long long)hash, differs);
      adapter->layout = NULL;
    }
    if (library) dlclose(library);
  }
  atomic_store(&adapter->get_table, found);
  return adapter->layout ? get_tables[n] : found;
}

void *akv_dlsym_wrap(const char *name, void *found) {
  (void)name;
  int path = atomic_load(&ur_path);
  if (path == UR_UNDECIDED) path = ur_decide(UR_TABLES);
  Dl_info info;
  if (path != UR_TABLES || !dladdr(found, &info) || !info.dli_fname) return found;
  lock();
  get_table_fn *given = meet((get_table_fn *)found, info.dli_fname);
  unlock();
  return (void *)given;
}
