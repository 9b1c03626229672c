/* A wrapped `dlsym` for a preloaded library: some runtimes fetch their entries by name only.
 *
 * The library that links dlsym.c and dlsym.S defines the two functions below. Every other look-up jumps to the real
 * dlsym, which must find the program as its caller: RTLD_NEXT means "after the caller", and with us as the caller it
 * would find another function, or the wrapper itself again. `dlopen` is never wrapped, for the same reason.
 */
#ifndef AKV_DLSYM_H
#define AKV_DLSYM_H

#include <stdbool.h>

/* Whether the library wants to see what this name is looked up to. Called for every dlsym of the program. */
bool akv_dlsym_wants(const char *name);

/* What the program gets instead of `found`, which the real dlsym found. `found` itself: it is left alone. */
void *akv_dlsym_wrap(const char *name, void *found);

/* The real dlsym, for the library's own use. */
typedef void *akv_dlsym_fn(void *handle, const char *name);
akv_dlsym_fn *akv_real_dlsym(void);

#endif
