/* Recording: what each call goes through. AKVLOG.md says what is written, akvlog.h how it is called. */
#define _GNU_SOURCE
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static __thread struct {
  uint64_t generation;
  uint32_t thread, depth;
} self __attribute__((tls_model("initial-exec")));

uint64_t akv_now(void) { return clock_ns(CLOCK_MONOTONIC); }

static uint64_t word_of(unsigned kind, unsigned flags, uint16_t name, uint64_t index) {
  return (uint64_t)kind | (uint64_t)flags << 8 | (uint64_t)name << 16 | (index + 1) << 32;
}

static void publish(struct akv_slot *slot, uint64_t word) {
  atomic_store_explicit((_Atomic uint64_t *)&slot->word, word, memory_order_release);
}

static inline struct akv_log *the_log(void) {
  struct akv_log *log = atomic_load_explicit(&akv_page.log, memory_order_acquire);
  if (unlikely(!log)) log = akv_begin();
  return unlikely(log == OFF) ? NULL : log;
}

static inline uint32_t thread_of(struct akv_log *log) {
  if (unlikely(self.generation != log->generation)) {
    self.generation = log->generation;
    self.thread = (uint32_t)raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
    self.depth = 0;
  }
  return self.thread;
}

/* Reserve `records` in a row; UINT64_MAX where there is no room. */
static inline uint64_t reserve(struct akv_log *log, uint64_t records) {
  uint64_t index = atomic_fetch_add_explicit(&log->header->reserved, records, memory_order_relaxed);
  if (unlikely(index + records > atomic_load_explicit(&log->ready, memory_order_acquire)) &&
      !akv_grow(log, index + records)) {
    /* What is reserved below the end of the file stays a hole; only what lies beyond is counted here. */
    uint64_t end = atomic_load_explicit(&log->ready, memory_order_acquire);
    atomic_fetch_add_explicit(&log->header->lost, index < end ? index + records - end : records, memory_order_relaxed);
    return UINT64_MAX;
  }
  if (unlikely((index + records) / STRIDE != index / STRIDE)) akv_ring(log);
  return index;
}

struct akv_call akv_enter(uint16_t name, unsigned room) {
  struct akv_call call = {.name = name};
  struct akv_log *log = the_log();
  if (unlikely(!log)) return call;
  uint32_t thread = thread_of(log);
  if (unlikely(room > 4 * AKV_ROOM_MOST)) room = 4 * AKV_ROOM_MOST;
  uint64_t index = reserve(log, 1 + (uint64_t)room);
  if (unlikely(index == UINT64_MAX)) return call;
  struct akv_slot *slot = log->slots + (index & log->mask);
  call.index = index;
  call.room = (uint16_t)room;
  call.flags = self.depth++ ? AKV_NESTED : 0;
  call.slot = slot;
  call.log = log;
  *slot = (struct akv_slot){.thread = thread, .a = akv_now()};
  publish(slot, word_of(AKV_OPEN, call.flags, name, index));
  return call;
}

void akv_words(struct akv_call *call, enum akv_more what, const uint64_t *words, size_t count) {
  struct akv_log *log = call->log;
  if (!call->slot || !count || !words || atomic_load_explicit(&akv_page.log, memory_order_relaxed) != log) return;
  size_t room = 6u * (size_t)(call->room - call->used);
  if (count > room) {
    call->flags |= AKV_CUT;
    count = room;
  }
  for (size_t done = 0; done < count; done += 6) {
    uint64_t index = call->index + 1 + call->used++;
    struct akv_slot *slot = log->slots + (index & log->mask);
    size_t here = count - done < 6 ? count - done : 6;
    uint64_t six[6] = {0};
    memcpy(six, words + done, here * sizeof *words);
    slot->a = (uint64_t)what | (uint64_t)here << 16 | (uint64_t)count << 32;
    memcpy(&slot->b, six, sizeof six);
    publish(slot, word_of(AKV_MORE, 0, 0, index));
    /* Only now does the record before it say that it is continued. */
    struct akv_slot *previous = call->used == 1 ? call->slot : log->slots + ((index - 1) & log->mask);
    publish(previous, previous->word | AKV_CONTINUED << 8);
  }
  if (call->used) call->flags |= AKV_CONTINUED;
}

void akv_exit(struct akv_call *call, int32_t result, uint64_t event, unsigned flags) {
  struct akv_slot *slot = call->slot;
  if (unlikely(!slot)) return;
  uint64_t now = akv_now();
  struct akv_log *log = call->log;
  /* Entered by the parent, left by a forked child: the slot is in a mapping that the child does not have. */
  if (unlikely(atomic_load_explicit(&akv_page.log, memory_order_relaxed) != log)) return;
  if (self.depth) self.depth--;
  /* Where the file wraps, a call that took half a lap has lost its slot, or is about to: it stays open. */
  if (unlikely(~log->mask) &&
      atomic_load_explicit(&log->header->reserved, memory_order_relaxed) - call->index > log->mask / 2)
    return;
  slot->b = now;
  slot->result = result;
  slot->event = event;
  publish(slot, word_of(AKV_CALL, call->flags | flags, call->name, call->index));
}

bool akv_inside(void) {
  struct akv_log *log = atomic_load_explicit(&akv_page.log, memory_order_acquire);
  return log && log != OFF && self.generation == log->generation && self.depth;
}

static void record(enum akv_kind kind, uint64_t a, uint64_t b, int32_t result, const uint64_t words[4]) {
  struct akv_log *log = the_log();
  if (!log) return;
  uint32_t thread = thread_of(log);
  uint64_t index = reserve(log, 1);
  if (index == UINT64_MAX) return;
  struct akv_slot *slot = log->slots + (index & log->mask);
  *slot = (struct akv_slot){.a = a, .b = b, .thread = thread, .result = result, .queue = words[0],
                            .event = words[1], .object = words[2], .bytes = words[3]};
  publish(slot, word_of(kind, 0, 0, index));
}

/* --- marks of a probe ------------------------------------------------------------------------------------------- */

uint64_t akv_generation(void) {
  struct akv_log *log = the_log();
  return likely(log) ? log->generation : 0;
}

bool akv_name_id(uint16_t id, const char *text) {
  struct akv_log *log = the_log();
  if (log && !id) atomic_fetch_add_explicit(&log->header->names_lost, 1, memory_order_relaxed);
  return log && id && akv_append_name(log, AKV_CALL_NAME, id, text) != UINT64_MAX;
}

uint64_t akv_mark(const struct akv_mark *mark) {
  struct akv_log *log = the_log();
  if (unlikely(!log)) return UINT64_MAX;
  uint32_t thread = thread_of(log);
  uint64_t index = reserve(log, 1);
  if (unlikely(index == UINT64_MAX)) return UINT64_MAX;
  struct akv_slot *slot = log->slots + (index & log->mask);
  *slot = (struct akv_slot){.a = mark->start, .b = mark->end, .thread = thread, .result = mark->value,
                            .queue = mark->words[0], .event = mark->words[1], .object = mark->words[2],
                            .bytes = mark->words[3]};
  publish(slot, word_of(mark->kind, mark->flags, mark->name, index));
  return index;
}

void akv_mark_end(uint64_t generation, uint64_t index, const struct akv_mark *mark) {
  struct akv_log *log = the_log();
  /* Begun in another file, or by the parent of this process: that slot is not ours to write. */
  if (!log || log->generation != generation) return;
  if (unlikely(~log->mask) &&
      atomic_load_explicit(&log->header->reserved, memory_order_relaxed) - index > log->mask / 2)
    return;
  struct akv_slot *slot = log->slots + (index & log->mask);
  slot->b = mark->end;
  publish(slot, word_of(mark->kind, mark->flags, mark->name, index));
}

uint64_t akv_lost(void) {
  struct akv_log *log = atomic_load_explicit(&akv_page.log, memory_order_acquire);
  return log && log != OFF ? atomic_load_explicit(&log->header->lost, memory_order_relaxed) : 0;
}

const char *akv_path(void) {
  struct akv_log *log = atomic_load_explicit(&akv_page.log, memory_order_acquire);
  return log && log != OFF ? log->path : NULL;
}

/* --- what a runtime says of itself ------------------------------------------------------------------------------ */

void akv_device(uint64_t call, uint64_t event, int32_t result, const uint64_t times[4]) {
  static const uint64_t none[4];
  record(AKV_DEVICE, call, event, result, result ? none : times);
}

void akv_clock(uint64_t device, uint64_t before, uint64_t after, int32_t result, uint64_t device_time,
               uint64_t host_time, uint64_t resolution) {
  const uint64_t words[4] = {device, device_time, host_time, resolution};
  record(AKV_CLOCK, before, after, result, words);
}

void akv_object(enum akv_object what, uint64_t handle, const char *text) {
  struct akv_log *log = text ? the_log() : NULL;
  if (!log) return;
  uint64_t at = akv_name_once(log, AKV_OBJECT_NAME, text);
  if (at == UINT64_MAX) return;
  const uint64_t words[4] = {handle, at, 0, 0};
  record(AKV_OBJECT, akv_now(), 0, (int32_t)what, words);
}

void akv_note(const char *text) {
  struct akv_log *log = the_log();
  if (log) akv_name_once(log, AKV_NOTE, text);
}

void akv_notef(const char *format, ...) {
  int before = errno;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  akv_note(text);
  errno = before;
}

void akv_count(uint16_t name) {
  struct akv_log *log = the_log();
  if (!log || name >= COUNTS) return;
  _Atomic uint64_t *counts = (_Atomic uint64_t *)((char *)log->header + HEADER_BYTES);
  atomic_fetch_add_explicit(&counts[name], 1, memory_order_relaxed);
}

void akv_add(enum akv_counter counter, uint64_t n) {
  struct akv_log *log = the_log();
  if (log) atomic_fetch_add_explicit(&log->header->counters[counter], n, memory_order_relaxed);
}
