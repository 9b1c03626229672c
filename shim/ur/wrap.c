/* The wrappers of all calls, for one way in. Compiled once a way: each adapter has originals of its own, and nothing in
 * a call's arguments says cheaply whose it is. */
#include "ur.h"

#ifndef WAY
#error "WAY is 0 for exported symbols, 1 to UR_WAYS - 1 for the tables of an adapter"
#endif

#define UR_JOIN(a, b, c) a##b##c
#define UR_PASTE(a, b, c) UR_JOIN(a, b, c)

#define WRAPPERS UR_PASTE(ur_wrappers_, WAY, )
#define REAL(name) atomic_load_explicit(&ur_real[WAY][N_##name], memory_order_acquire)

#include "wrappers.inc"
