/* One cheap Unified Runtime call in a loop: ur_loop CALLS THREADS. Prints what it took and how memory grew, as JSON.
 *
 * The call is urContextRetain and urContextRelease in turn: a few nanoseconds of work, so that what looks on shows.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ur_api.h>

static ur_context_handle_t context;
static unsigned long calls;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void check(ur_result_t result, const char *what) {
  if (result == UR_RESULT_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, (int)result);
  exit(1);
}

static long kib(const char *key) {
  char line[256];
  long found = -1;
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, key, strlen(key))) found = atol(line + strlen(key));
  if (file) fclose(file);
  return found;
}

static void *loop(void *unused) {
  for (unsigned long n = 0; n < calls; n += 2) {
    urContextRetain(context);
    urContextRelease(context);
  }
  return unused;
}

static uint64_t timed(int threads) {
  pthread_t made[64];
  uint64_t start = now();
  for (int n = 1; n < threads; n++) pthread_create(&made[n], NULL, loop, NULL);
  loop(NULL);
  for (int n = 1; n < threads; n++) pthread_join(made[n], NULL);
  return now() - start;
}

int main(int argc, char **argv) {
  if (argc != 3) return 64;
  unsigned long most = strtoul(argv[1], NULL, 10);
  int threads = atoi(argv[2]);
  ur_adapter_handle_t adapters[8];
  ur_platform_handle_t platform;
  ur_device_handle_t device;
  uint32_t n = 0;
  check(urLoaderInit(0, NULL), "urLoaderInit");
  check(urAdapterGet(8, adapters, &n), "urAdapterGet");
  uint32_t found = 0;
  for (uint32_t i = 0; i < n && !found; i++) {
    uint32_t platforms = 0;
    if (urPlatformGet(adapters[i], 1, &platform, &platforms) || !platforms) continue;
    if (urDeviceGet(platform, UR_DEVICE_TYPE_ALL, 1, &device, &found)) found = 0;
  }
  if (!found) {
    fprintf(stderr, "no device\n");
    return 1;
  }
  check(urContextCreate(1, &device, NULL, &context), "urContextCreate");

  calls = most / 10;
  timed(threads); /* what is made once is made here */
  long resident = kib("Rss:"), anonymous = kib("Anonymous:");
  calls = most;
  uint64_t took = timed(threads);
  long resident_after = kib("Rss:"), anonymous_after = kib("Anonymous:");
  volatile uint64_t sum = 0;
  uint64_t start = now();
  for (unsigned long i = 0; i < most; i++) sum += now() + now();
  fprintf(stderr,
          "{\"calls\": %lu, \"ns\": %llu, \"two_clock_reads_ns\": %.3f, \"resident_kib\": [%ld, %ld], "
          "\"anonymous_kib\": [%ld, %ld]}\n",
          most * (unsigned long)threads, (unsigned long long)took, (double)(now() - start) / (double)most, resident,
          resident_after, anonymous, anonymous_after);
  return 0;
}
