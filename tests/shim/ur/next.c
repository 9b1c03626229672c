/* Another preloaded library that wraps a function and finds the real one with RTLD_NEXT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int puts(const char *text) {
  int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");
  if (real == puts) _exit(77);
  real("wrapped");
  return real(text);
}
