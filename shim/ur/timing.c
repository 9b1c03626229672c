/* Device times, with AKV_TIMING=on: an event is retained, read once it is complete, and released.
 *
 * Events wait in a ring of fixed size. Any thread puts one in without waiting; one thread at a time looks through it,
 * and whoever finds another at it goes on. The ring lies in memory that a forked child gets zeroed, since the events are
 * its parent's: zero means an empty ring.
 *
 * To ask an event whether it is complete is itself a call, and some adapters submit what they had gathered when asked.
 * So the ring is looked through where the program waits anyway, and elsewhere only once many events are waiting.
 */
#define _GNU_SOURCE
#include "ur.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  RING = 1 << 14,
  MANY = RING / 4,  /* waiting events from which on every call looks at some */
  SOME = 16,
  AT_A_WAIT = 1024,
};

struct pending {
  _Atomic uint64_t state; /* twice position + 1 where it waits, one more where it has been read */
  uint64_t event, queue, call;
  unsigned way;
};

struct ring {
  _Atomic uint64_t tail;
  _Atomic uint32_t busy;
  _Alignas(64) _Atomic uint64_t head;
  _Alignas(64) struct pending places[RING];
};

static _Atomic(struct ring *) the_ring;
static _Atomic int captures; /* queues that record into a graph: their events never run */

static pid_t registered_by;
static void last_look(void);

static struct ring *ring(void) {
  struct ring *ring = atomic_load_explicit(&the_ring, memory_order_acquire);
  if (__builtin_expect(ring != NULL, 1)) return ring;
  struct ring *made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return NULL;
  madvise(made, sizeof *made, MADV_WIPEONFORK);
  if (!atomic_compare_exchange_strong(&the_ring, &ring, made)) {
    munmap(made, sizeof *made);
    return ring;
  }
  /* Registered only now, while the runtime is at work, so that it runs before whatever tears the runtime down. */
  registered_by = getpid();
  atexit(last_look);
  return made;
}

static struct pending *place(struct ring *ring, uint64_t position) { return &ring->places[position % RING]; }

static bool put(unsigned way, uint64_t call, uint64_t queue, uint64_t event) {
  struct ring *to = ring();
  if (!to) return false;
  uint64_t head = atomic_load_explicit(&to->head, memory_order_relaxed);
  do {
    if (head - atomic_load_explicit(&to->tail, memory_order_acquire) >= RING) return false;
  } while (!atomic_compare_exchange_weak_explicit(&to->head, &head, head + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
  struct pending *pending = place(to, head);
  pending->event = event;
  pending->queue = queue;
  pending->call = call;
  pending->way = way;
  atomic_store_explicit(&pending->state, 2 * (head + 1), memory_order_release);
  return true;
}

static int32_t profiling(unsigned way, uint64_t event, uint32_t what, uint64_t *value) {
  int32_t (*get)(uint64_t, uint32_t, size_t, void *, size_t *) = ur_own(way, N_urEventGetProfilingInfo);
  return get ? get(event, what, sizeof *value, value, NULL) : (int32_t)UR_RESULT_ERROR_UNINITIALIZED;
}

static void release(unsigned way, uint64_t event) {
  int32_t (*real)(uint64_t) = ur_own(way, N_urEventRelease);
  if (real) real(event);
}

/* Write the times of an event down, where it is complete. */
static bool read_times(const struct pending *pending) {
  uint32_t status = ~0u;
  if (ur_info(pending->way, N_urEventGetInfo, (const void *)pending->event, UR_EVENT_INFO_COMMAND_EXECUTION_STATUS,
              &status, sizeof status) &&
      status > UR_EVENT_STATUS_COMPLETE && status <= UR_EVENT_STATUS_QUEUED)
    return false;
  uint64_t times[4] = {0};
  int32_t result = profiling(pending->way, pending->event, UR_PROFILING_INFO_COMMAND_START, &times[2]);
  if (!result) result = profiling(pending->way, pending->event, UR_PROFILING_INFO_COMMAND_END, &times[3]);
  /* Not every adapter knows these two; 0 says so. */
  if (profiling(pending->way, pending->event, UR_PROFILING_INFO_COMMAND_QUEUED, &times[0])) times[0] = 0;
  if (profiling(pending->way, pending->event, UR_PROFILING_INFO_COMMAND_SUBMIT, &times[1])) times[1] = 0;
  akv_device(pending->call, pending->event, result, times);
  return true;
}

/* Whose events are let go unread: what they belong to is about to end. */
struct ending {
  bool any;
  unsigned way;
  uint64_t queue; /* 0: of every queue */
};

static void look(uint64_t most, struct ending ending) {
  struct ring *in = atomic_load_explicit(&the_ring, memory_order_acquire);
  if (!in) return;
  if (atomic_load_explicit(&in->tail, memory_order_relaxed) == atomic_load_explicit(&in->head, memory_order_relaxed))
    return;
  /* What ends must not be met later; otherwise whoever is looking does it. Bounded: it may be this very thread. */
  for (int tries = ending.any ? 1000 : 1; atomic_exchange_explicit(&in->busy, 1, memory_order_acquire); sched_yield())
    if (!--tries) return;
  int before = errno;
  uint64_t tail = atomic_load_explicit(&in->tail, memory_order_relaxed);
  uint64_t head = atomic_load_explicit(&in->head, memory_order_acquire);
  for (uint64_t at = tail; at < head && at - tail < most; at++) {
    struct pending *pending = place(in, at);
    uint64_t waits = 2 * (at + 1), state = atomic_load_explicit(&pending->state, memory_order_acquire);
    if (state == waits) {
      bool done = read_times(pending);
      if (!done && ending.any && pending->way == ending.way && (!ending.queue || pending->queue == ending.queue)) {
        akv_add(AKV_DEVICE_TIMES_UNREAD, 1);
        done = true;
      }
      if (done) {
        release(pending->way, pending->event);
        atomic_store_explicit(&pending->state, state = waits + 1, memory_order_relaxed);
      }
    }
    /* Places are free again in their order. */
    if (state == waits + 1 && at == atomic_load_explicit(&in->tail, memory_order_relaxed))
      atomic_store_explicit(&in->tail, at + 1, memory_order_release);
  }
  atomic_store_explicit(&in->busy, 0, memory_order_release);
  errno = before;
}

static const struct ending nothing_ends;

static uint64_t waiting(void) {
  struct ring *ring = atomic_load_explicit(&the_ring, memory_order_acquire);
  return ring ? atomic_load_explicit(&ring->head, memory_order_relaxed) -
                    atomic_load_explicit(&ring->tail, memory_order_relaxed)
              : 0;
}

/* --- around calls ------------------------------------------------------------------------------------------------ */

bool ur_ask(struct akv_call *call, unsigned *flags) {
  if (!call->slot || atomic_load_explicit(&captures, memory_order_relaxed) > 0) return false;
  *flags |= AKV_EVENT_ASKED;
  akv_add(AKV_EVENTS_ASKED, 1);
  return true;
}

void ur_watch(unsigned way, const struct akv_call *call, uint64_t queue, uint64_t event, unsigned flags) {
  int before = errno;
  if (event) {
    /* An event that was asked for is ours already. */
    bool ours = flags & AKV_EVENT_ASKED, kept = ours;
    if (!ours && call->slot && atomic_load_explicit(&captures, memory_order_relaxed) <= 0) {
      int32_t (*retain)(uint64_t) = ur_own(way, N_urEventRetain);
      kept = retain && !retain(event);
      if (!kept) akv_add(AKV_DEVICE_TIMES_LOST, 1);
    }
    if (kept && !put(way, call->index, queue, event)) {
      release(way, event);
      akv_add(AKV_DEVICE_TIMES_LOST, 1);
    }
  }
  if (flags & AKV_BLOCKING)
    look(AT_A_WAIT, nothing_ends);
  else if (waiting() > MANY)
    look(SOME, nothing_ends);
  ur_clock_pass(akv_now());
  errno = before;
}

void ur_waited(void) {
  int before = errno;
  look(AT_A_WAIT, nothing_ends);
  ur_clock_pass(akv_now());
  errno = before;
}

void ur_graph_capture(int more) { atomic_fetch_add(&captures, more); }

void *ur_profiling(void *properties, struct ur_queue_properties *changed, unsigned *flags) {
  if (ur_timing == UR_ASIS) return properties;
  *changed = (struct ur_queue_properties){.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES};
  if (properties) *changed = *(const struct ur_queue_properties *)properties;
  if (changed->stype != UR_STRUCTURE_TYPE_QUEUE_PROPERTIES) {
    akv_note("timing.unchanged=a queue whose properties begin with something else");
    return properties;
  }
  uint32_t wanted = changed->flags & ~UR_QUEUE_FLAG_PROFILING_ENABLE;
  if (ur_timing == UR_ON) {
    if (changed->flags & UR_QUEUE_FLAG_DISCARD_EVENTS) {
      akv_note("timing.unchanged=a queue that discards its events");
      return properties;
    }
    wanted |= UR_QUEUE_FLAG_PROFILING_ENABLE;
  }
  if (wanted == changed->flags) return properties;
  changed->flags = wanted; /* what is chained behind stays chained */
  *flags |= AKV_PROFILING_CHANGED;
  return changed;
}

/* --- ends --------------------------------------------------------------------------------------------------------- */

static bool last_reference(unsigned way, unsigned name, const void *handle, uint32_t what) {
  uint32_t count = 0;
  return !ur_info(way, name, handle, what, &count, sizeof count) || count <= 1;
}

void ur_before_queue_release(unsigned way, void *queue) {
  if (!ur_timing_on() || !waiting()) return;
  bool ends = last_reference(way, N_urQueueGetInfo, queue, UR_QUEUE_INFO_REFERENCE_COUNT);
  look(RING, (struct ending){ends, way, (uint64_t)queue});
}

/* An event does not say cheaply whose context it is, so those that are not complete stay: they hold their context. */
void ur_before_context_release(void) {
  if (ur_timing_on() && waiting()) look(RING, nothing_ends);
}

/* Only parts of a device end; a whole one stays when it is let go. */
void ur_before_device_release(unsigned way, void *device) {
  void *parent = NULL;
  if (!ur_timing_on()) return;
  if (ur_info(way, N_urDeviceGetInfo, device, UR_DEVICE_INFO_PARENT_DEVICE, &parent, sizeof parent) && parent &&
      last_reference(way, N_urDeviceGetInfo, device, UR_DEVICE_INFO_REFERENCE_COUNT))
    ur_clock_forget(way, device);
}

void ur_before_adapter_release(unsigned way, void *adapter) {
  if (!ur_timing_on() || !last_reference(way, N_urAdapterGetInfo, adapter, UR_ADAPTER_INFO_REFERENCE_COUNT)) return;
  look(RING, (struct ending){true, way, 0});
  ur_clock_forget(way, NULL);
}

void ur_before_teardown(unsigned way) {
  if (!ur_timing_on()) return;
  look(RING, (struct ending){true, way, 0});
  ur_clock_forget(way, NULL);
}

static void last_look(void) {
  /* A forked child that ends the usual way: nothing of the runtime is its own. */
  if (getpid() != registered_by) return;
  look(RING, nothing_ends);
  ur_clock_all();
}

/* The runtime may be gone by now: what is still in the ring is counted, not read. */
void akv_closing(void) {
  struct ring *in = atomic_load_explicit(&the_ring, memory_order_acquire);
  if (!in) return;
  uint64_t unread = 0;
  for (uint64_t at = atomic_load(&in->tail); at < atomic_load(&in->head); at++)
    unread += atomic_load(&place(in, at)->state) == 2 * (at + 1);
  if (unread) akv_add(AKV_DEVICE_TIMES_UNREAD, unread);
}
