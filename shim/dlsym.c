/* What dlsym.S asks before it jumps. */
#define _GNU_SOURCE
#include "dlsym.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

static void *nothing(void *handle, const char *name) {
  (void)handle, (void)name;
  return NULL;
}

akv_dlsym_fn *akv_real_dlsym(void) {
  static _Atomic(akv_dlsym_fn *) real;
  akv_dlsym_fn *found = atomic_load_explicit(&real, memory_order_acquire);
  if (found) return found;
  int before = errno;
  /* Ours hides the name, so it is asked for by version; the second is that of C libraries before 2.34. */
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5"};
  for (size_t n = 0; !found && n < sizeof versions / sizeof *versions; n++)
    found = (akv_dlsym_fn *)dlvsym(RTLD_NEXT, "dlsym", versions[n]);
  /* Another preloaded library may wrap dlsym too, without a version, so only the C library's own finds it. */
  akv_dlsym_fn *next = found ? (akv_dlsym_fn *)found(RTLD_NEXT, "dlsym") : NULL;
  if (next) found = next;
  if (!found) found = nothing;
  atomic_store_explicit(&real, found, memory_order_release);
  errno = before;
  return found;
}

static void *ours(void *handle, const char *name) {
  void *found = akv_real_dlsym()(handle, name);
  if (!found) return NULL;
  int before = errno;
  found = akv_dlsym_wrap(name, found);
  errno = before;
  return found;
}

/* Where the look-up goes on. Called from dlsym.S with the arguments of the program's call. */
akv_dlsym_fn *akv_dlsym_target(void *handle, const char *name) {
  /* With these two the answer depends on who asks. */
  bool by_caller = handle == RTLD_NEXT || handle == RTLD_DEFAULT;
  return !by_caller && name && akv_dlsym_wants(name) ? ours : akv_real_dlsym();
}
