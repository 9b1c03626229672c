/* A driver library in miniature, soname libcuda.so.1: a few entries under NVIDIA's names that say which one was called,
 * and cuGetProcAddress in its two signatures. It shows which entries the CUDA library hands out and how; it launches
 * nothing. */
#include <stdio.h>
#include <string.h>

int calls_seen[16];

int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned s,
                   void *stream, void **p, void **e) {
  (void)f, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)s, (void)stream, (void)p, (void)e;
  calls_seen[0]++;
  return 0;
}
int cuLaunchKernelEx(const void *config, void *f, void **p, void **e) {
  (void)config, (void)f, (void)p, (void)e;
  calls_seen[1]++;
  return 0;
}
int cuCtxSynchronize(void) { return calls_seen[2]++, 0; }
int cuCtxSynchronize_v2(void *context) { return calls_seen[3]++, context == (void *)0x77 ? 0 : 1; }
static int newer(void *anything) {
  (void)anything;
  return calls_seen[4]++, 0;
}
static int variants[6];
#define VARIANT(N) \
  static int variant_##N(void *stream) { (void)stream; return variants[N]++, 0; }
VARIANT(0) VARIANT(1) VARIANT(2) VARIANT(3) VARIANT(4) VARIANT(5)
static void *const variant_entries[] = {variant_0, variant_1, variant_2, variant_3, variant_4, variant_5};
int cuFuncGetName(const char **name, void *f) {
  *name = f == (void *)0x1000 ? "toy_kernel(float *)" : NULL;
  return *name ? 0 : 1;
}

/* Flags 100 + n of cuStreamSynchronize: its n-th version. */
int cuGetProcAddress_v2(const char *symbol, void **entry, int version, unsigned long long flags, int *status);
int cuGetProcAddress(const char *symbol, void **entry, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(symbol, entry, version, flags, NULL);
}
int cuGetProcAddress_v2(const char *symbol, void **entry, int version, unsigned long long flags, int *status) {
  if (status) *status = 0;
  *entry = NULL;
  if (!strcmp(symbol, "cuLaunchKernel")) *entry = (void *)cuLaunchKernel;
  if (!strcmp(symbol, "cuLaunchKernelEx")) *entry = version > 13000 ? (void *)newer : (void *)cuLaunchKernelEx;
  if (!strcmp(symbol, "cuCtxSynchronize"))
    *entry = version >= 13000 ? (void *)cuCtxSynchronize_v2 : (void *)cuCtxSynchronize;
  if (!strcmp(symbol, "cuStreamSynchronize")) *entry = variant_entries[flags - 100];
  if (!strcmp(symbol, "cuGetProcAddress"))
    *entry = version >= 12000 ? (void *)cuGetProcAddress_v2 : (void *)cuGetProcAddress;
  return *entry ? 0 : 500;
}
