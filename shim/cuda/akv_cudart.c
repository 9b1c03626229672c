/* libakv_cudart.so: the calls of the CUDA runtime, and those of the driver that libraries fetch for themselves.
 *
 * Two ways in:
 *   - exported symbols: what is linked against libcudart.so (torch's libraries) or libcuda.so calls ours;
 *   - fetched entries: a library with a runtime of its own inside asks dlsym for cuGetProcAddress, and that for the
 *     rest. It is handed trampolines.
 * A driver call inside a recorded runtime call is the same call one level down: it is counted, not recorded again.
 * Kernels are named once, when a handle is launched for the first time.
 */
#define _GNU_SOURCE
#include "akvlog.h"
#include "dlsym.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define U64(x) ((uint64_t)(uintptr_t)(x))

/* --- names and ids --------------------------------------------------------------------------------------------- */

#define RUNTIME(NAME, ...) ID_##NAME,
#define RUNTIME2(NAME, SUFFIX, ...) ID_##NAME, ID_##NAME##SUFFIX,
#define COUNTED(NAME, ...) ID_##NAME,
#define DRIVER(NAME, ...) ID_##NAME,
enum { 
#include "calls.def"
  IDS
};
#undef RUNTIME
#undef RUNTIME2
#undef COUNTED
#undef DRIVER

#define RUNTIME(NAME, ...) #NAME,
#define RUNTIME2(NAME, SUFFIX, ...) #NAME, #NAME #SUFFIX,
#define COUNTED(NAME, ...) #NAME,
#define DRIVER(NAME, ...) #NAME,
static const char *const names[IDS] = {
#include "calls.def"
};
#undef RUNTIME
#undef RUNTIME2
#undef COUNTED
#undef DRIVER

const struct akv_producer akv_producer = {"cudart", "akv_cudart 0.1.0", names, IDS};

/* --- the real ones --------------------------------------------------------------------------------------------- */

static const char *base_name_of(const void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return "?";
  const char *slash = strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

static void *_Atomic real_of[IDS];

/* The runtime is often opened locally, where RTLD_NEXT finds nothing: ask the library that is mapped. */
static void *find_real(int id, const char *name, bool driver) {
  static const char *const runtimes[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", NULL};
  static const char *const drivers[] = {"libcuda.so.1", NULL};
  int before = errno;
  void *found = NULL;
  for (const char *const *soname = driver ? drivers : runtimes; *soname && !found; soname++) {
    void *library = dlopen(*soname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    found = akv_real_dlsym()(library, name);
    dlclose(library); /* it was open before, and stays so */
  }
  if (!found) found = akv_real_dlsym()(RTLD_NEXT, name);
  if (found) {
    atomic_store_explicit(&real_of[id], found, memory_order_release);
    akv_notef("%s=%s", driver ? "driver" : "runtime", base_name_of(found));
  } else {
    akv_say("%s is nowhere to be found", name);
  }
  errno = before;
  return found;
}

static inline void *real(int id, const char *name, bool driver) {
  void *found = atomic_load_explicit(&real_of[id], memory_order_acquire);
  return __builtin_expect(!found, 0) ? find_real(id, name, driver) : found;
}

/* --- names of kernels ------------------------------------------------------------------------------------------ */

/* Handles whose kernel has a name in the file already. A handle that is pushed out is only named again. */
static _Atomic uint64_t named[1 << 12];

static bool name_is_new(uint64_t handle) {
  _Atomic uint64_t *place = &named[(handle >> 4 ^ handle >> 16) % (sizeof named / sizeof *named)];
  if (atomic_load_explicit(place, memory_order_relaxed) == handle) return false;
  atomic_store_explicit(place, handle, memory_order_relaxed);
  return true;
}

static void name_kernel(uint64_t handle) {
  static cudaError_t (*_Atomic name_of)(const char **, const void *);
  int before = errno;
  if (!atomic_load(&name_of)) {
    static _Atomic bool looked;
    if (!atomic_exchange(&looked, true)) {
      Dl_info home;
      void *launch = NULL;
      for (int id = 0; id < ID_cudaLaunchHostFunc && !launch; id++) launch = atomic_load(&real_of[id]);
      void *library = launch && dladdr(launch, &home) ? dlopen(home.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
      void *found = library ? akv_real_dlsym()(library, "cudaFuncGetName") : NULL;
      if (library) dlclose(library);
      cudaError_t (*function)(const char **, const void *);
      memcpy(&function, &found, sizeof found);
      atomic_store(&name_of, function);
    }
  }
  const char *name = NULL;
  cudaError_t (*function)(const char **, const void *) = atomic_load(&name_of);
  if (function && function(&name, (const void *)handle) == cudaSuccess && name)
    akv_object(AKV_KERNEL, handle, name);
  errno = before;
}

static CUresult (*_Atomic function_name)(const char **, CUfunction);
static CUresult (*_Atomic kernel_name)(const char **, CUkernel);

/* The driver takes a CUkernel where a CUfunction is asked for, so a handle may be either. */
static void name_function(uint64_t handle) {
  int before = errno;
  if (!atomic_load(&function_name)) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library) {
      void *found = akv_real_dlsym()(library, "cuFuncGetName");
      CUresult (*function)(const char **, CUfunction);
      memcpy(&function, &found, sizeof found);
      atomic_store(&function_name, function);
      found = akv_real_dlsym()(library, "cuKernelGetName");
      CUresult (*kernel)(const char **, CUkernel);
      memcpy(&kernel, &found, sizeof found);
      atomic_store(&kernel_name, kernel);
      dlclose(library);
    }
  }
  const char *name = NULL;
  CUresult (*function)(const char **, CUfunction) = atomic_load(&function_name);
  CUresult (*kernel)(const char **, CUkernel) = atomic_load(&kernel_name);
  if ((function && function(&name, (CUfunction)handle) == CUDA_SUCCESS && name) ||
      (kernel && kernel(&name, (CUkernel)handle) == CUDA_SUCCESS && name))
    akv_object(AKV_KERNEL, handle, name);
  errno = before;
}

/* --- what the fields of calls.def mean ------------------------------------------------------------------------- */

#define QUEUE(x) s->queue = U64(x)
#define OBJECT(x) s->object = U64(x)
#define BYTES(x) s->bytes = (uint64_t)(x)
#define ADDRESSES(dst, src) akv_words(&call, AKV_ADDRESSES, (const uint64_t[]){U64(dst), U64(src)}, 2)
#define WAIT(event) akv_words(&call, AKV_WAITS, (const uint64_t[]){U64(event)}, 1)
#define SIX(a, b, c, d, e, f) akv_words(&call, AKV_WORK, (const uint64_t[]){a, b, c, d, e, f}, 6)
#define WORK(grid, block) SIX((grid).x, (grid).y, (grid).z, (block).x, (block).y, (block).z)
#define MADE(out) (result == 0 && (out) ? U64(*(out)) : 0)
#define AFTER(assignment) (s && result == 0 ? ((void)(assignment), 0u) : 0u)
/* Names are asked for after the call: the name of a kernel is none of the launch's time. */
#define KERNEL(handle) to_name = U64(handle)
#define FUNCTION(handle) to_name = U64(handle)

#define BODY(TYPE, NAME_FUNCTION, ID, REAL, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                        \
  uint64_t to_name = 0;                                                                                               \
  struct akv_call call = akv_enter(ID, ROOM);                                                                         \
  struct akv_slot *s = call.slot;                                                                                     \
  if (s) {                                                                                                            \
    FIELDS;                                                                                                           \
  }                                                                                                                   \
  TYPE result = ((TYPE(*) PARAMETERS)REAL)ARGUMENTS;                                                                  \
  akv_exit(&call, (int32_t)result, EVENT, FLAGS);                                                                     \
  if (to_name && result == 0 && name_is_new(to_name)) NAME_FUNCTION(to_name);                                         \
  return result;

/* --- the runtime ----------------------------------------------------------------------------------------------- */

#define RUNTIME_AS(NAME, TEXT, ID, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                 \
  EXPORT cudaError_t NAME PARAMETERS {                                                                                \
    void *next = real(ID, TEXT, false);                                                                               \
    if (__builtin_expect(!next, 0)) return cudaErrorSymbolNotFound;                                                   \
    BODY(cudaError_t, name_kernel, ID, next, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                       \
  }
#define RUNTIME(NAME, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                              \
  RUNTIME_AS(NAME, #NAME, ID_##NAME, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)
#define RUNTIME2(NAME, SUFFIX, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                     \
  RUNTIME_AS(NAME, #NAME, ID_##NAME, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                               \
  RUNTIME_AS(NAME##SUFFIX, #NAME #SUFFIX, ID_##NAME##SUFFIX, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)
#define COUNTED(NAME, PARAMETERS, ARGUMENTS)                                                                          \
  EXPORT cudaError_t NAME PARAMETERS {                                                                                \
    void *next = real(ID_##NAME, #NAME, false);                                                                       \
    if (__builtin_expect(!next, 0)) return cudaErrorSymbolNotFound;                                                   \
    akv_count(ID_##NAME);                                                                                             \
    return ((cudaError_t(*) PARAMETERS)next)ARGUMENTS;                                                                \
  }
#define DRIVER(...)
#include "calls.def"
#undef RUNTIME
#undef RUNTIME2
#undef COUNTED
#undef DRIVER

/* --- the driver ------------------------------------------------------------------------------------------------ */

/* An entry may be fetched in several versions (per-thread streams, several libraries): a trampoline for each. */
enum { VARIANTS = 4 };
static void *_Atomic variant_of[IDS][VARIANTS];

#define DRIVER_BODY(ID, REAL, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                      \
  if (akv_inside()) {                                                                                                 \
    akv_count(ID);                                                                                                    \
    return ((CUresult(*) PARAMETERS)REAL)ARGUMENTS;                                                                   \
  }                                                                                                                   \
  BODY(CUresult, name_function, ID, REAL, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)
#define TRAMPOLINE(NAME, ID, N, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                    \
  static CUresult NAME PARAMETERS {                                                                                   \
    void *next = atomic_load_explicit(&variant_of[ID][N], memory_order_acquire);                                      \
    DRIVER_BODY(ID, next, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                   \
  }
/* The exported twin has the name that NVIDIA's header gives it, such as cuMemFree_v2: NAME is expanded there. */
#define LINKED(NAME, TEXT, ID, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                     \
  EXPORT CUresult NAME PARAMETERS {                                                                                   \
    void *next = real(ID, TEXT, true);                                                                                \
    if (__builtin_expect(!next, 0)) return CUDA_ERROR_NOT_FOUND;                                                      \
    DRIVER_BODY(ID, next, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                          \
  }
#define TEXT_OF(NAME) TEXT_OF_EXPANDED(NAME)
#define TEXT_OF_EXPANDED(NAME) #NAME
#define RUNTIME(...)
#define RUNTIME2(...)
#define COUNTED(...)
#define DRIVER(NAME, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                                               \
  TRAMPOLINE(trampoline_0_##NAME, ID_##NAME, 0, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                     \
  TRAMPOLINE(trampoline_1_##NAME, ID_##NAME, 1, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                     \
  TRAMPOLINE(trampoline_2_##NAME, ID_##NAME, 2, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                     \
  TRAMPOLINE(trampoline_3_##NAME, ID_##NAME, 3, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)                     \
  LINKED(NAME, TEXT_OF(NAME), ID_##NAME, PARAMETERS, ARGUMENTS, ROOM, FIELDS, EVENT, FLAGS)
#include "calls.def"
#undef DRIVER

static void *const trampolines[IDS][VARIANTS] = {
#define DRIVER(NAME, ...)                                                                                             \
  [ID_##NAME] = {(void *)trampoline_0_##NAME, (void *)trampoline_1_##NAME, (void *)trampoline_2_##NAME,               \
                 (void *)trampoline_3_##NAME},
#include "calls.def"
#undef DRIVER
};

/* The symbols that the entries are exported under; they carry a version where the first one had other parameters. */
static const char *const linked[IDS] = {
#define DRIVER(NAME, ...) [ID_##NAME] = TEXT_OF(NAME),
#include "calls.def"
#undef DRIVER
};

/* The id of a driver entry by its symbol (dlsym): as linked, or its twin for per-thread default streams. */
static int id_of_symbol(const char *symbol) {
  for (int id = ID_cuLaunchKernel; id < IDS; id++) {
    size_t n = strlen(linked[id]);
    if (!strncmp(symbol, linked[id], n) && (!symbol[n] || !strcmp(symbol + n, "_ptsz") || !strcmp(symbol + n, "_ptds")))
      return id;
  }
  return -1;
}

/* The id of an entry by its name and version (cuGetProcAddress). Before CUDA 4 sizes had 32 bits under the same names,
 * and what a version after our headers looks like nobody knows yet: both are left alone. */
static int id_of_entry(const char *name, int version) {
  if (version < 4000 || version > CUDA_VERSION) return -1;
  if (!strcmp(name, "cuCtxSynchronize") && version >= 13000) return ID_cuCtxSynchronize_v2;
  for (int id = ID_cuLaunchKernel; id < IDS; id++)
    if (!strcmp(name, names[id])) return id;
  return -1;
}

/* The trampoline to hand out for a fetched entry; the entry itself where there is none left. */
static void *trampoline_for(int id, void *entry, const char *name) {
  for (int n = 0; n < VARIANTS; n++) {
    void *taken = NULL;
    if (entry == trampolines[id][n]) return entry;
    if (atomic_compare_exchange_strong(&variant_of[id][n], &taken, entry) || taken == entry) return trampolines[id][n];
  }
  akv_notef("unseen=%s: fetched in more than %d versions", name, VARIANTS);
  return entry;
}

typedef CUresult (*get_proc_address_1)(const char *, void **, int, cuuint64_t);
typedef CUresult (*get_proc_address_2)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
static get_proc_address_1 _Atomic get_1;
static get_proc_address_2 _Atomic get_2;
static CUresult our_get_2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static CUresult our_get_1(const char *symbol, void **entry, int version, cuuint64_t flags);

static void replace(const char *symbol, void **entry, int version, const void *caller) {
  if (!symbol || !entry || !*entry) return;
  int before = errno;
  if (!strcmp(symbol, "cuGetProcAddress")) {
    /* The second signature came with version 12.0. */
    if (version >= 12000) {
      atomic_store(&get_2, (get_proc_address_2)*entry);
      *entry = (void *)our_get_2;
    } else {
      atomic_store(&get_1, (get_proc_address_1)*entry);
      *entry = (void *)our_get_1;
    }
  } else {
    int id = id_of_entry(symbol, version);
    if (id >= 0) {
      *entry = trampoline_for(id, *entry, symbol);
      akv_notef("fetches=%s", base_name_of(caller));
    } else if (version > CUDA_VERSION && id_of_entry(symbol, CUDA_VERSION) >= 0) {
      akv_notef("unseen=%s: version %d is newer than the headers", symbol, version);
    }
  }
  errno = before;
}

static CUresult our_get_1(const char *symbol, void **entry, int version, cuuint64_t flags) {
  CUresult result = atomic_load(&get_1)(symbol, entry, version, flags);
  if (result == CUDA_SUCCESS) replace(symbol, entry, version, __builtin_return_address(0));
  return result;
}

static CUresult our_get_2(const char *symbol, void **entry, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status) {
  CUresult result = atomic_load(&get_2)(symbol, entry, version, flags, status);
  if (result == CUDA_SUCCESS) replace(symbol, entry, version, __builtin_return_address(0));
  return result;
}

/* --- dlsym ----------------------------------------------------------------------------------------------------- */

/* Called for every dlsym of the process: the first letters decide. */
bool akv_dlsym_wants(const char *name) {
  return name[0] == 'c' && name[1] == 'u' && (!strncmp(name, "cuGetProcAddress", 16) || id_of_symbol(name) >= 0);
}

void *akv_dlsym_wrap(const char *name, void *found) {
  /* Programs also look for these names in libraries that are not the driver, such as stubs: what they find is theirs. */
  if (strncmp(base_name_of(found), "libcuda.so", 10)) return found;
  if (!strcmp(name, "cuGetProcAddress")) {
    atomic_store(&get_1, (get_proc_address_1)found);
    return (void *)our_get_1;
  }
  if (!strcmp(name, "cuGetProcAddress_v2")) {
    atomic_store(&get_2, (get_proc_address_2)found);
    return (void *)our_get_2;
  }
  int id = id_of_symbol(name);
  return id < 0 ? found : trampoline_for(id, found, name);
}
