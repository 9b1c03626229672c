/* Brackets of host time around the device's clock, so that device times can be put on the host's axis with a bound.
 *
 * AKV_CLOCK_MS  how far apart, in milliseconds (default 100; 0: only the first and the last of each device)
 */
#define _GNU_SOURCE
#include "ur.h"

#include <errno.h>
#include <stdlib.h>

enum { DEVICES = 16 };

static struct device {
  _Atomic(void *) handle;
  unsigned way;
  uint64_t resolution; /* ns a tick; 0: unknown */
} devices[DEVICES];
static _Atomic uint64_t due = UINT64_MAX; /* when the next brackets are taken */

static uint64_t interval(void) {
  static _Atomic uint64_t known;
  uint64_t ns = atomic_load_explicit(&known, memory_order_relaxed);
  if (ns) return ns;
  const char *given = getenv("AKV_CLOCK_MS");
  char *end = NULL;
  unsigned long ms = given && *given ? strtoul(given, &end, 10) : 100;
  if (end && (*end || ms > 86400000)) {
    akv_say("AKV_CLOCK_MS=%s is no number of milliseconds; 100 is used", given);
    ms = 100;
  }
  ns = ms ? ms * UINT64_C(1000000) : UINT64_MAX;
  atomic_store_explicit(&known, ns, memory_order_relaxed);
  return ns;
}

static void bracket(const struct device *device) {
  void *handle = atomic_load(&device->handle);
  int32_t (*get)(void *, uint64_t *, uint64_t *) = ur_own(device->way, N_urDeviceGetGlobalTimestamps);
  if (!handle || !get) return;
  uint64_t device_time = 0, host_time = 0, before = akv_now();
  int32_t result = get(handle, &device_time, &host_time);
  uint64_t after = akv_now();
  akv_clock((uint64_t)handle, before, after, result, device_time, host_time, device->resolution);
}

bool ur_clock_device(unsigned way, void *handle) {
  for (struct device *device = devices; device < devices + DEVICES; device++) {
    void *there = atomic_load(&device->handle);
    if (there == handle && device->way == way) return false;
    if (there) continue;
    /* Two threads that make their first queues of two devices at once must not take the same place. */
    static atomic_flag adding = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&adding)) return false; /* the next queue of this device will */
    bool free_still = !atomic_load(&device->handle);
    if (free_still) {
      size_t resolution = 0;
      if (!ur_info(way, N_urDeviceGetInfo, handle, UR_DEVICE_INFO_PROFILING_TIMER_RESOLUTION, &resolution,
                   sizeof resolution))
        resolution = 0;
      device->way = way;
      device->resolution = resolution;
      atomic_store(&device->handle, handle);
    }
    atomic_flag_clear(&adding);
    if (!free_still) continue;
    if (ur_timing_on()) {
      bracket(device);
      uint64_t never = UINT64_MAX, step = interval();
      if (step != UINT64_MAX) atomic_compare_exchange_strong(&due, &never, akv_now() + step);
    }
    return true;
  }
  return false;
}

void ur_clock_pass(uint64_t now) {
  uint64_t then = atomic_load_explicit(&due, memory_order_relaxed);
  if (__builtin_expect(now < then, 1)) return;
  /* Of several threads one takes the brackets. */
  if (atomic_compare_exchange_strong(&due, &then, now + interval())) ur_clock_all();
}

void ur_clock_all(void) {
  int before = errno;
  for (struct device *device = devices; device < devices + DEVICES; device++)
    if (atomic_load(&device->handle)) bracket(device);
  errno = before;
}

void ur_clock_forget(unsigned way, const void *handle) {
  for (struct device *device = devices; device < devices + DEVICES; device++) {
    void *there = atomic_load(&device->handle);
    if (there && device->way == way && (!handle || there == handle)) {
      int before = errno;
      if (ur_timing_on()) bracket(device);
      errno = before;
      atomic_store(&device->handle, NULL);
    }
  }
}
