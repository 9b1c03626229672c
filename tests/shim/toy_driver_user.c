/* Fetches the driver's entries as libraries do that hold a runtime of their own, and calls them. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef int get_fn(const char *, void **, int, unsigned long long, int *);
static get_fn *get;

static void *entry(const char *symbol, int version, unsigned long long flags) {
  void *found = NULL;
  int status;
  if (get(symbol, &found, version, flags, &status)) exit(10);
  return found;
}

int main(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return fprintf(stderr, "%s\n", dlerror()), 11;
  get_fn *first = (get_fn *)dlsym(driver, "cuGetProcAddress_v2");
  /* Asked for itself, it gives itself again. */
  get = first;
  get = (get_fn *)entry("cuGetProcAddress", 12000, 0);
  if (get != first) return 12;
  errno = 42;
  struct { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned count; } config = {
    {4, 3, 2}, {32, 1, 1}, 0, (void *)0x5, NULL, 0};
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
    dlsym(driver, "cuLaunchKernel");
  int (*launch_ex)(const void *, void *, void **, void **) = entry("cuLaunchKernelEx", 13000, 0);
  for (int n = 0; n < 3; n++) launch((void *)0x1000, 1, 2, 3, 64, 1, 1, 0, (void *)0x9, NULL, NULL);
  for (int n = 0; n < 2; n++) launch_ex(&config, (void *)0x2000, NULL, NULL);
  /* Newer than the headers that the library was built with: nobody knows its parameters. */
  int (*unknown)(void *) = entry("cuLaunchKernelEx", 14000, 0);
  unknown(NULL);
  int (*sync)(void) = entry("cuCtxSynchronize", 12000, 0);
  int (*sync_2)(void *) = entry("cuCtxSynchronize", 13000, 0);
  if (sync() || sync_2((void *)0x77)) return 13;
  for (int n = 0; n < 6; n++) ((int (*)(void *))entry("cuStreamSynchronize", 12000, 100 + n))((void *)0x9);
  return errno == 42 ? 0 : 14;
}
