/* What the files of the recorder share; none of it is for the libraries that record. */
#ifndef AKV_LOG_H
#define AKV_LOG_H

#include "../akvlog.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* All of it is of one library: reached without a table. */
#pragma GCC visibility push(hidden)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum {
  HEADER_BYTES = 4096,
  COUNTS = 1024,
  NAMES_BYTES = 1 << 20,
  NAME_MOST = 4095,
  STRIDE = 1 << 14,     /* records between two runs of the tending thread: 1 MiB */
  FIRST = 2 * STRIDE,   /* records that a file begins with */
  AHEAD = 4,            /* strides brought in before they are written */
  BEHIND = 4,           /* strides kept after they were written: late returns write there */
  PIECE = 1 << 20,      /* records taken from the disk at a time: 64 MiB */
  TEXTS = 1 << 12,      /* different texts that are recognised when they come again */
  TEND_STACK = 1 << 14,
};

enum { STOPPED_CAPACITY = 1, STOPPED_DISK = 2, STOPPED_OTHER = 3 };

#define NAMES_OFFSET ((uint64_t)HEADER_BYTES + COUNTS * 8)
#define RECORDS_OFFSET ((uint64_t)HEADER_BYTES + COUNTS * 8 + NAMES_BYTES)
_Static_assert(RECORDS_OFFSET % 4096 == 0, "records begin on a page");

struct moment {
  int64_t before, realtime, after, raw;
};

struct header {
  unsigned char magic[8];
  uint32_t version, header_bytes, record_bytes, flags;
  uint64_t names_offset, names_bytes, counts_offset, counts, records_offset, capacity;
  uint32_t pid, parent;
  struct moment started, closed_at;
  _Atomic uint32_t closed, stopped;
  int32_t stop_errno;
  _Atomic uint64_t made; /* records that the file is long enough for */
  /* Each on a cache line of its own: every call of every thread adds to the first. */
  _Alignas(64) _Atomic uint64_t reserved;
  _Alignas(64) _Atomic uint64_t names_reserved;
  _Alignas(64) _Atomic uint64_t lost;
  _Atomic uint64_t names_lost;
  _Atomic uint64_t counters[3]; /* as enum akv_counter */
  _Alignas(64) char producer[128];
  char executable[512];
};
_Static_assert(offsetof(struct header, started) == 80 && offsetof(struct header, closed) == 144, "AKVLOG.md");
_Static_assert(offsetof(struct header, made) == 160, "AKVLOG.md");
_Static_assert(offsetof(struct header, reserved) == 192 && offsetof(struct header, names_reserved) == 256, "AKVLOG.md");
_Static_assert(offsetof(struct header, lost) == 320 && offsetof(struct header, counters) == 336, "AKVLOG.md");
_Static_assert(offsetof(struct header, producer) == 384 && offsetof(struct header, executable) == 512, "AKVLOG.md");

struct text {
  _Atomic uint64_t hash, offset_and_one;
};

/* What a process knows of its file; in memory of its own, since a forked child starts another. */
struct akv_log {
  struct header *header;
  struct akv_slot *slots;
  uint64_t mask;               /* slot of an index; all ones where the file stops at its capacity */
  uint64_t generation;         /* tells threads that their cached id is of this process */
  _Atomic uint64_t ready;      /* indexes below this have space on the disk */
  _Atomic uint32_t zeroing;    /* a file system without fallocate: one thread writes zeros */
  _Alignas(64) _Atomic uint32_t tending; /* not 0 while the tending thread is at work */
  uint64_t brought, let_go;              /* strides; the tending thread's own */
  char *stack;
  dev_t device;
  ino_t inode;
  char path[PATH_MAX];
  struct text texts[TEXTS];
};

/* The one word that says which file is being written. The page is wiped in a forked child, also where no handler of
 * pthread_atfork runs, so that the child starts afresh and never writes into its parent's file. */
union akv_page {
  _Atomic(struct akv_log *) log;
  char fill[4096];
};
extern union akv_page akv_page;

#define OFF ((struct akv_log *)1) /* nothing is or can be recorded in this process */

/* settings.c */
struct akv_settings {
  _Atomic int read;
  bool wanted, wrap, verbose, cannot_wipe;
  uint64_t cap; /* records */
  char directory[PATH_MAX];
};
extern struct akv_settings akv_settings;
void akv_read_settings(void);

/* file.c */
struct akv_log *akv_begin(void);
uint64_t akv_append_name(struct akv_log *log, enum akv_name what, uint16_t id, const char *text);
uint64_t akv_name_once(struct akv_log *log, enum akv_name what, const char *text);

/* space.c */
int akv_take(struct akv_log *log, int fd, uint64_t from, uint64_t to);
bool akv_grow(struct akv_log *log, uint64_t needed);
void akv_ring(struct akv_log *log);
void akv_give_stack(struct akv_log *log);

/* A system call that leaves errno alone. */
#if defined(__x86_64__)
static inline long raw(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#else
static inline long raw(long number, long a, long b, long c, long d, long e, long f) {
  int before = errno;
  long result = syscall(number, a, b, c, d, e, f);
  if (result == -1) result = -errno;
  errno = before;
  return result;
}
#endif

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t); /* cannot fail with these clocks, so errno stays */
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#pragma GCC visibility pop
#endif
