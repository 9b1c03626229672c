int run_kernels(int n);
int main(int argc, char **argv) {
  (void)argv;
  return run_kernels(0) == 1000 ? argc - 1 : 99;
}
