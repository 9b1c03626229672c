/* The wrappers of all calls, for one way in. Compiled once a way: each adapter has originals of its own, and nothing in
 * a call's arguments says cheaply whose it is. */
#include "ur.h"

#ifndef WAY
#error "WAY is 0 for exported symbols, 1 to UR_WAYS - 1 for the tables of an adapter"
#endif
#if !defined(__x86_64__)
#error "calls whose prototypes differ between releases are passed on by the calling convention of x86-64"
#endif

#define UR_JOIN(a, b, c) a##b##c
#define UR_PASTE(a, b, c) UR_JOIN(a, b, c)

#define WRAPPER(name) static int32_t wrap_##name
#define WRAPPERS UR_PASTE(ur_wrappers_, WAY, )
#define REAL(name) atomic_load_explicit(&ur_real[WAY][N_##name], memory_order_acquire)

#include "wrappers.inc"
