/* A Unified Runtime of a few calls whose every effect can be seen: built as libur_loader.so.0.
 *
 * Events are complete once something waited for them. When the library is unloaded it says how many events are left.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What tells the release of a runtime; the recorder reads it. */
#ifndef RELEASE
#define RELEASE "2025.3.0"
#endif
__asm__(".pushsection .comment\n.string \"oneAPI Compiler " RELEASE "\"\n.popsection");

#define API __attribute__((visibility("default")))
enum { FAILED = 4, UNAVAILABLE = 60 };

struct queue {
  atomic_int references;
  uint32_t flags;
  void *next; /* what was chained behind the properties */
};
struct event {
  atomic_int references, complete;
  struct queue *queue;
  uint64_t number;
  struct event *after;
};
struct properties {
  uint32_t stype;
  void *next;
  uint32_t flags;
};

static char adapter, context, device;
static atomic_int live_events, own_calls;
static _Atomic uint64_t numbers;
static _Atomic(struct event *) all; /* every event ever made; their memory is kept */

static int32_t answer(const void *value, size_t bytes, size_t room, void *to, size_t *needed) {
  if (needed) *needed = bytes;
  if (to && room >= bytes) memcpy(to, value, bytes);
  return to && room < bytes ? FAILED : 0;
}

API int32_t urAdapterGet(uint32_t n, void **handles, uint32_t *count) {
  if (handles && n) handles[0] = &adapter;
  if (count) *count = 1;
  return 0;
}
API int32_t urAdapterGetInfo(void *a, uint32_t what, size_t room, void *to, size_t *needed) {
  uint32_t one = 1;
  (void)a, (void)what;
  return answer(&one, sizeof one, room, to, needed);
}
API int32_t urAdapterRelease(void *a) { return (void)a, 0; }
API int32_t urLoaderTearDown(void) { return 0; }
API int32_t urContextCreate(uint32_t n, void *devices, void *properties, void **made) {
  (void)n, (void)devices, (void)properties;
  *made = &context;
  return 0;
}
API int32_t urContextRelease(void *c) { return (void)c, 0; }
API int32_t urDeviceGet(void *platform, uint32_t type, uint32_t n, void **devices, uint32_t *count) {
  (void)platform, (void)type;
  if (devices && n) devices[0] = &device;
  if (count) *count = 1;
  return 0;
}
API int32_t urDeviceGetInfo(void *d, uint32_t what, size_t room, void *to, size_t *needed) {
  size_t resolution = 40;
  (void)d;
  if (what == 0x36) return answer(&resolution, sizeof resolution, room, to, needed);
  return answer("fake device", 12, room, to, needed);
}
API int32_t urDeviceGetGlobalTimestamps(void *d, uint64_t *device_time, uint64_t *host_time) {
  struct timespec now;
  (void)d;
  clock_gettime(CLOCK_MONOTONIC, &now);
  *device_time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + 5000;
  *host_time = 0;
  own_calls++;
  return 0;
}

API int32_t urQueueCreate(void *c, void *d, const struct properties *properties, struct queue **made) {
  (void)c, (void)d;
  *made = calloc(1, sizeof **made);
  (*made)->references = 1;
  (*made)->flags = properties ? properties->flags : 0;
  (*made)->next = properties ? properties->next : NULL;
  return 0;
}
API int32_t urQueueGetInfo(struct queue *queue, uint32_t what, size_t room, void *to, size_t *needed) {
  uint32_t references = (uint32_t)queue->references;
  return what == 4 ? answer(&references, sizeof references, room, to, needed) : FAILED;
}
API int32_t urQueueRelease(struct queue *queue) { return queue->references--, 0; }
API int32_t urQueueFinish(struct queue *queue) {
  for (struct event *event = all; event; event = event->after)
    if (event->queue == queue) event->complete = 1;
  return 0;
}

API int32_t urKernelCreate(void *program, const char *name, void **made) {
  (void)program;
  *made = strdup(name);
  return 0;
}
API int32_t urKernelCreateWithNativeHandle(uintptr_t native, void *c, void *p, void *properties, void **made) {
  (void)native, (void)c, (void)p, (void)properties;
  *made = strdup("of_a_native_handle");
  return 0;
}
API int32_t urKernelGetInfo(void *kernel, uint32_t what, size_t room, void *to, size_t *needed) {
  return what ? FAILED : answer(kernel, strlen(kernel) + 1, room, to, needed);
}

static int32_t enqueue(struct queue *queue, struct event **out) {
  errno = 4242;
  if (!queue) return FAILED;
  if (!out) return 0;
  struct event *event = calloc(1, sizeof *event);
  event->references = 1;
  event->queue = queue;
  event->number = ++numbers;
  event->after = all;
  while (!atomic_compare_exchange_weak(&all, &event->after, event)) {
  }
  live_events++;
  *out = event;
  return 0;
}
API int32_t urEnqueueUSMMemcpy(struct queue *queue, _Bool blocking, void *to, const void *from, size_t size, uint32_t n,
                               struct event *const *waits, struct event **out) {
  (void)n, (void)waits;
  memcpy(to, from, size);
  int32_t result = enqueue(queue, out);
  if (!result && blocking && out) (*out)->complete = 1;
  return result;
}
API int32_t urEnqueueKernelLaunch(struct queue *queue, void *kernel, uint32_t dimensions, const size_t *offset,
                                  const size_t *global, const size_t *local, uint32_t m, const void *properties,
                                  uint32_t n, struct event *const *waits, struct event **out) {
  (void)kernel, (void)dimensions, (void)offset, (void)global, (void)local, (void)m, (void)properties, (void)n, (void)waits;
  return enqueue(queue, out);
}

API int32_t urEventWait(uint32_t n, struct event *const *events) {
  for (uint32_t at = 0; at < n; at++) events[at]->complete = 1;
  return 0;
}
API int32_t urEventRetain(struct event *event) {
  if (event->references < 1) fprintf(stderr, "retained after its end\n");
  return event->references++, 0;
}
API int32_t urEventRelease(struct event *event) {
  if (event->references < 1) fprintf(stderr, "released after its end\n");
  if (--event->references == 0) live_events--;
  return 0;
}
API int32_t urEventGetInfo(struct event *event, uint32_t what, size_t room, void *to, size_t *needed) {
  uint32_t status = event->complete ? 0 : 1;
  if (event->references < 1) fprintf(stderr, "asked after its end\n");
  own_calls++;
  return what == 3 ? answer(&status, sizeof status, room, to, needed) : FAILED;
}
API int32_t urEventGetProfilingInfo(struct event *event, uint32_t what, size_t room, void *to, size_t *needed) {
  if (!(event->queue->flags & 2)) return UNAVAILABLE;
  uint64_t value = 1000 * event->number + what;
  return answer(&value, sizeof value, room, to, needed);
}

API int fake_live_events(void) { return live_events; }
API int fake_own_calls(void) { return own_calls; }

__attribute__((destructor)) static void end(void) {
  printf("left %d\n", live_events);
  fflush(stdout);
}
