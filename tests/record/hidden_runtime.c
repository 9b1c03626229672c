/* A library that brings a runtime of its own, whose functions nobody outside can see. */
__attribute__((visibility("hidden"), noinline)) int urEnqueueKernelLaunch(int n) { return n + 1; }
__attribute__((visibility("default"))) int run_kernels(int n) {
  for (int i = 0; i < 1000; i++) n = urEnqueueKernelLaunch(n);
  return n;
}
