/* The recorder: fixed records in a shared mapping. The format is in AKVLOG.md.
 *
 * A library that records calls defines `akv_producer` and wraps each call so:
 *
 *     struct akv_call call = akv_enter(NAME_ID, akv_room(words));
 *     if (call.slot) { call.slot->queue = ...; call.slot->bytes = ...; }
 *     akv_words(&call, AKV_WAITS, events, count);
 *     result = real(...);
 *     akv_exit(&call, result, event, flags);
 *
 * Nothing here takes a lock, allocates from the heap, prints (unless AKV_VERBOSE=1) or changes errno. All of it may be
 * called from a signal handler, from a thread that is about to die, before constructors ran and after destructors did.
 * Where recording is off or has stopped, `call.slot` is NULL and the call goes through.
 */
#ifndef AKVLOG_H
#define AKVLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum akv_kind { AKV_HOLE, AKV_OPEN, AKV_CALL, AKV_MORE, AKV_OBJECT, AKV_DEVICE, AKV_CLOCK };
enum akv_mark_kind { AKV_STEP = 16, AKV_PHASE, AKV_REGION, AKV_LAYER };

enum akv_flag {
  AKV_BLOCKING = 1,
  AKV_CONTINUED = 2,
  AKV_NESTED = 4,
  AKV_EVENT_ASKED = 8,
  AKV_PROFILING_CHANGED = 16,
  AKV_CUT = 32,
};

/* Flags of the kinds of a probe. */
enum akv_mark_flag { AKV_RAISED = 1, AKV_LASTS = 2 };

/* What the words of a continuation are. */
enum akv_more { AKV_WAITS = 1, AKV_WORK = 2, AKV_ADDRESSES = 3, AKV_HANDLES = 4 };

/* What a name is. */
enum akv_name { AKV_CALL_NAME = 1, AKV_OBJECT_NAME = 2, AKV_LIBRARY = 3, AKV_NOTE = 4 };

/* What an object is (the `result` of its record). */
enum akv_object { AKV_KERNEL = 1, AKV_GRAPH = 2, AKV_REQUEST = 3 };

struct akv_slot {
  uint64_t word; /* commit word: kind, flags, name id, low half of index + 1 */
  uint64_t a, b; /* enter and exit of a call */
  uint32_t thread;
  int32_t result;
  uint64_t queue, event, object, bytes;
};
_Static_assert(sizeof(struct akv_slot) == 64, "a record is 64 bytes");

struct akv_log;

struct akv_call {
  struct akv_slot *slot; /* NULL: not recorded */
  struct akv_log *log;   /* the recorder's own: a call that a forked child returns from is its parent's */
  uint64_t index;        /* absolute index of the record; what a device record refers to */
  uint16_t name, room, used;
  uint8_t flags;
};

/* Defined once by each library that records. Name ids are the places in `names`. */
struct akv_producer {
  const char *prefix;  /* of the file's name, such as "ur": $AKV_DIR/ur-PID.akvlog */
  const char *version; /* such as "akv_ur 0.1.0" */
  const char *const *names;
  uint16_t count;      /* at most 1,024 */
};
extern const struct akv_producer akv_producer;

/* Continuation records that `words` words of one kind take. Cut at AKV_ROOM_MOST. */
#define AKV_ROOM_MOST 64u
static inline unsigned akv_room(size_t words) {
  return words > 6u * AKV_ROOM_MOST ? AKV_ROOM_MOST : (unsigned)((words + 5) / 6);
}

/* Reserve a record and `room` continuations after it, stamp the time of entry and show the call as open. */
struct akv_call akv_enter(uint16_t name, unsigned room);

/* Put words behind the call. Several kinds may follow each other; what does not fit the room sets AKV_CUT. */
void akv_words(struct akv_call *call, enum akv_more what, const uint64_t *words, size_t count);

/* Stamp the time of exit and publish. `event` is the event that the call handed out (0: none). */
void akv_exit(struct akv_call *call, int32_t result, uint64_t event, unsigned flags);

/* Whether this thread is inside a recorded call. */
bool akv_inside(void);

/* A call of which no more is known than that it went through. */
void akv_count(uint16_t name);

/* An object got a name (each text is kept once). */
void akv_object(enum akv_object what, uint64_t handle, const char *text);

/* A fact about the recording itself, as `key=value`; kept once. Not for the hot path. */
void akv_note(const char *text);
void akv_notef(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Device times of the event of call `call`, as the runtime gave them; zeros where `result` is not 0. */
void akv_device(uint64_t call, uint64_t event, int32_t result, const uint64_t times[4]);

/* One bracket: host before, the device's clock, host after. Host times of akv_now(). */
void akv_clock(uint64_t device, uint64_t before, uint64_t after, int32_t result, uint64_t device_time,
               uint64_t host_time, uint64_t resolution);

/* --- for a probe: names and folder are known at run time ---
 *
 * A probe's calls are serialised (by Python's lock), so that a folder may be chosen while nobody records.
 */

/* A number that each file of a process has for itself, never 0; 0: nothing can be recorded. Begins the file. */
uint64_t akv_generation(void);

/* Whether `id` has the name `text` in this file from now on; once for each id. Id 0 is no id: the name is counted as
 * lost. */
bool akv_name_id(uint16_t id, const char *text);

struct akv_mark {
  uint64_t start, end;
  uint32_t kind; /* 16 to 63 */
  int32_t value;
  uint16_t name;
  uint8_t flags;
  uint64_t words[4];
};

/* Record it; its index, or UINT64_MAX where there is no room. */
uint64_t akv_mark(const struct akv_mark *mark);

/* Write the end and the flags of a mark of file `generation` that was recorded while it lasted. */
void akv_mark_end(uint64_t generation, uint64_t index, const struct akv_mark *mark);

/* Close the file, if there is one, and record into `directory` (an absolute path) from now on. False: it is too long. */
bool akv_choose(const char *directory);

uint64_t akv_lost(void);      /* records of the file of this process for which there was no room */
const char *akv_path(void);   /* of the file of this process; NULL: there is none */

uint64_t akv_now(void); /* CLOCK_MONOTONIC, ns */
bool akv_on(void);      /* whether AKV_DIR asks for recording (not whether there is still room) */

/* Counters of the header. */
enum akv_counter { AKV_DEVICE_TIMES_LOST, AKV_EVENTS_ASKED, AKV_DEVICE_TIMES_UNREAD };
void akv_add(enum akv_counter counter, uint64_t n);

/* Called by the recorder at the normal exit of the process, before the file is marked as closed. A library may define
 * it (to read the last device times); the recorder has a weak one that does nothing. */
void akv_closing(void);

/* Whether a process without a record leaves nothing, not even a list of what it mapped. As the one above: the recorder
 * has a weak one that says no. */
bool akv_silent(void);

/* One line on standard error, only with AKV_VERBOSE=1. */
void akv_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
