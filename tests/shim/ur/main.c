/* Opens the program locally and runs it: RTLD_NEXT finds no Unified Runtime from a preloaded library then. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
  void *program = count == 3 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void (*run)(const char *) = program ? (void (*)(const char *))dlsym(program, "run") : NULL;
  if (!run) return fprintf(stderr, "%s\n", dlerror()), 1;
  run(arguments[2]);
  return 0;
}
