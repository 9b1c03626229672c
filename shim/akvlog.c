/* The recorder. AKVLOG.md says what it writes, akvlog.h how it is called.
 *
 * Environment, read once:
 *   AKV_DIR      folder of the files; not set: nothing is recorded
 *   AKV_CAP      bytes of records at most, with K, M or G (default 4G); a file grows up to it in pieces
 *   AKV_FULL     stop (default) or wrap: what happens when the cap is reached
 *   AKV_VERBOSE  1: say on standard error what went wrong
 *
 * Why it is built this way:
 *   - A file is made at the first recorded call, since a preload is mapped by every helper of a shell script.
 *   - No descriptor is kept: programs that close all of theirs would leave us with a number that soon means another
 *     file. The file is opened by its path for the moments in which it grows.
 *   - Space on the disk is taken before it is touched: a store into a mapped page without room ends in SIGBUS.
 *   - A thread without libc tends the file, for a moment at every 16,384 records: it takes space ahead of the writers,
 *     brings the next pages in, and lets go of those behind. It has no TLS of its own, so it makes raw system calls only
 *     and runs with every signal blocked. Where it is late, or cannot be had, the writer that needs the space takes it.
 */
#define _GNU_SOURCE
#include "akvlog.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

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
static union {
  _Atomic(struct akv_log *) log;
  char fill[4096];
} page __attribute__((aligned(4096)));

#define OFF ((struct akv_log *)1) /* nothing is or can be recorded in this process */

static struct {
  _Atomic int read;
  bool wanted, wrap, verbose, cannot_wipe;
  uint64_t cap; /* records */
  char directory[PATH_MAX];
} config;

static __thread struct {
  uint64_t generation;
  uint32_t thread, depth;
} self __attribute__((tls_model("initial-exec")));

/* --- system calls that leave errno alone ------------------------------------------------------------------------ */

#if defined(__x86_64__)
static long raw(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
#else
static long raw(long number, long a, long b, long c, long d, long e, long f) {
  int before = errno;
  long result = syscall(number, a, b, c, d, e, f);
  if (result == -1) result = -errno;
  errno = before;
  return result;
}
#endif

static uint64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t); /* cannot fail with these clocks, so errno stays */
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t akv_now(void) { return clock_ns(CLOCK_MONOTONIC); }

static struct moment moment(void) {
  struct moment m;
  m.before = (int64_t)clock_ns(CLOCK_MONOTONIC);
  m.realtime = (int64_t)clock_ns(CLOCK_REALTIME);
  m.after = (int64_t)clock_ns(CLOCK_MONOTONIC);
  m.raw = (int64_t)clock_ns(CLOCK_MONOTONIC_RAW);
  return m;
}

void akv_say(const char *format, ...) {
  if (!config.verbose) return;
  int before = errno;
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  int n = snprintf(line, sizeof line - 1, "%s: ", akv_producer.version);
  n += vsnprintf(line + n, sizeof line - 1 - (size_t)n, format, arguments);
  va_end(arguments);
  if (n > (int)sizeof line - 2) n = (int)sizeof line - 2;
  line[n++] = '\n';
  raw(SYS_write, 2, (long)line, n, 0, 0, 0);
  errno = before;
}

/* --- the environment -------------------------------------------------------------------------------------------- */

static uint64_t cap_of(const char *text) {
  uint64_t bytes = 4ull << 30;
  if (text && *text) {
    char *end;
    unsigned long long given = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift) end++;
    if (*end || !given || given > (1ull << 44) >> shift)
      akv_say("AKV_CAP=%s is not a size; 4G is used", text);
    else
      bytes = given << shift;
  }
  uint64_t records = bytes / sizeof(struct akv_slot);
  return records < 64 ? 64 : records;
}

enum { ENVIRONMENT_MOST = 1 << 20 };

/* The environment as the kernel keeps it: before libc's own constructor ran, getenv finds nothing. NULL: not there. */
static char *early_environment(void) {
  char *all = mmap(NULL, ENVIRONMENT_MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return NULL;
  long fd = raw(SYS_open, (long)"/proc/self/environ", O_RDONLY | O_CLOEXEC, 0, 0, 0, 0), n = 0;
  for (long at = 0; fd >= 0 && at < ENVIRONMENT_MOST - 2; at += n) {
    n = raw(SYS_read, fd, (long)(all + at), ENVIRONMENT_MOST - 2 - at, 0, 0, 0);
    if (n <= 0) break;
  }
  if (fd >= 0) raw(SYS_close, fd, 0, 0, 0, 0, 0);
  return all;
}

static const char *setting(const char *early, const char *name) {
  if (!early) return getenv(name);
  size_t length = strlen(name);
  for (; *early; early += strlen(early) + 1)
    if (!strncmp(early, name, length) && early[length] == '=') return early + length + 1;
  return NULL;
}

/* Several threads may do this at once: they write the same. */
static void read_config(void) {
  if (atomic_load_explicit(&config.read, memory_order_acquire)) return;
  char *early = environ ? NULL : early_environment();
  const char *verbose = setting(early, "AKV_VERBOSE"), *directory = setting(early, "AKV_DIR"),
             *full = setting(early, "AKV_FULL");
  config.verbose = verbose && !strcmp(verbose, "1");
  config.wrap = full && !strcmp(full, "wrap");
  if (full && *full && strcmp(full, "wrap") && strcmp(full, "stop"))
    akv_say("AKV_FULL=%s is neither stop nor wrap; stop is used", full);
  config.cap = cap_of(setting(early, "AKV_CAP"));
  if (config.wrap) config.cap = 1ull << (63 - __builtin_clzll(config.cap));
  config.wanted = directory && *directory && strlen(directory) < PATH_MAX - 64;
  if (config.wanted) {
    size_t at = 0;
    if (directory[0] != '/') { /* the program may change its folder */
      /* A folder that is gone has no path, or one that does not begin at the root. */
      config.wanted = getcwd(config.directory, PATH_MAX / 2) && config.directory[0] == '/';
      at = config.wanted ? strlen(config.directory) : 0;
      config.directory[at++] = '/';
    }
    if (at + strlen(directory) < PATH_MAX - 64)
      strcpy(config.directory + at, directory);
    else
      config.wanted = false;
    if (!config.wanted) akv_say("AKV_DIR=%s: there is no such path from here", directory);
  }
  atomic_store_explicit(&config.read, 1, memory_order_release);
  if (early) munmap(early, ENVIRONMENT_MOST);
}

bool akv_on(void) {
  int before = errno;
  read_config();
  errno = before;
  return config.wanted;
}

/* --- space on the disk ------------------------------------------------------------------------------------------ */

static void stop(struct akv_log *log, uint32_t why, int error) {
  uint32_t running = 0;
  if (!atomic_compare_exchange_strong(&log->header->stopped, &running, why)) return;
  log->header->stop_errno = error;
}

/* Zeros where the file system knows no fallocate. Only behind the end of the file, and by one thread at a time: zeros
 * must not land on records. 0 or an errno; EAGAIN: another thread is at it. */
static int write_zeros(struct akv_log *log, int fd, uint64_t from, uint64_t to) {
  static const char zeros[1 << 12];
  uint32_t nobody = 0;
  if (!atomic_compare_exchange_strong(&log->zeroing, &nobody, 1)) return EAGAIN;
  int error = 0;
  struct stat now;
  if (raw(SYS_fstat, fd, (long)&now, 0, 0, 0, 0) == 0 && (uint64_t)now.st_size > from) from = (uint64_t)now.st_size;
  while (from < to && !error) {
    uint64_t n = to - from < sizeof zeros ? to - from : sizeof zeros;
    long done = raw(SYS_pwrite64, fd, (long)zeros, (long)n, (long)from, 0, 0);
    if (done > 0)
      from += (uint64_t)done;
    else if (done != -EINTR)
      error = done ? (int)-done : ENOSPC;
  }
  atomic_store(&log->zeroing, 0);
  return error;
}

/* Take the bytes `from` to `to` of the file from the disk. 0 or an errno. */
static int take(struct akv_log *log, int fd, uint64_t from, uint64_t to) {
  struct rlimit most;
  /* Beyond this limit the kernel would send SIGXFSZ, which ends a program that knows nothing of us. */
  if (raw(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&most, 0, 0) == 0 && most.rlim_cur != RLIM_INFINITY &&
      to > most.rlim_cur)
    return EFBIG;
  long result;
  do result = raw(SYS_fallocate, fd, 0, (long)from, (long)(to - from), 0, 0);
  while (result == -EINTR);
  if (result == -EOPNOTSUPP || result == -ENOSYS) return write_zeros(log, fd, from, to);
  return (int)-result;
}

static int open_again(struct akv_log *log) {
  long fd = raw(SYS_open, (long)log->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0, 0, 0, 0);
  struct stat found;
  if (fd >= 0 && (raw(SYS_fstat, fd, (long)&found, 0, 0, 0, 0) || found.st_dev != log->device ||
                  found.st_ino != log->inode)) {
    raw(SYS_close, fd, 0, 0, 0, 0, 0);
    fd = -ENOENT;
  }
  return (int)fd;
}

/* Make the indexes below `needed` ready. Safe from several threads at once and from signal handlers. */
static bool grow(struct akv_log *log, uint64_t needed) {
  uint64_t ready = atomic_load_explicit(&log->ready, memory_order_acquire);
  while (ready < needed) {
    if (atomic_load_explicit(&log->header->stopped, memory_order_relaxed)) return false;
    uint64_t capacity = log->header->capacity, next = ready + PIECE;
    if (ready >= capacity) {
      stop(log, STOPPED_CAPACITY, 0);
      return false;
    }
    if (next > capacity) next = capacity;
    int fd = open_again(log);
    int error = fd < 0 ? -fd
                       : take(log, fd, RECORDS_OFFSET + ready * sizeof(struct akv_slot),
                              RECORDS_OFFSET + next * sizeof(struct akv_slot));
    if (fd >= 0) raw(SYS_close, fd, 0, 0, 0, 0, 0);
    if (error == EAGAIN) return atomic_load_explicit(&log->ready, memory_order_acquire) >= needed;
    if (error) {
      stop(log, error == ENOSPC || error == EDQUOT || error == EFBIG ? STOPPED_DISK : STOPPED_OTHER, error);
      return false;
    }
    /* A file that wraps is whole once its capacity is there: from then on every index has a slot. */
    uint64_t then = next == capacity && ~log->mask ? UINT64_MAX : next;
    if (atomic_compare_exchange_strong(&log->ready, &ready, then)) {
      uint64_t made = atomic_load(&log->header->made);
      while (made < next && !atomic_compare_exchange_strong(&log->header->made, &made, next)) {
      }
    }
    ready = atomic_load_explicit(&log->ready, memory_order_acquire);
  }
  return true;
}

/* --- the tending thread ----------------------------------------------------------------------------------------- */

/* It lives for the moments in which there is something to do, and ends: a thread that stayed would keep a process that
 * ends thread by thread from ending, keep the rights that the program gives up, and stand in the way of what only
 * single-threaded programs may do. */
#if defined(__x86_64__)
static void advise(struct akv_log *log, uint64_t stride, int advice) {
  uint64_t first = stride * STRIDE;
  if (log->header->capacity < STRIDE) return; /* a stride would reach beyond the mapping */
  if (first + STRIDE > atomic_load_explicit(&log->ready, memory_order_acquire)) return;
  raw(SYS_madvise, (long)(log->slots + (first & log->mask)), STRIDE * sizeof(struct akv_slot), advice, 0, 0, 0);
}

static void tend(void *argument) {
  struct akv_log *log = argument;
  uint64_t stride = atomic_load_explicit(&log->header->reserved, memory_order_relaxed) / STRIDE;
  uint64_t wanted = (stride + AHEAD + 1) * STRIDE + PIECE / 2;
  if (wanted > log->header->capacity) wanted = log->header->capacity;
  grow(log, wanted);
  if (log->brought < stride) log->brought = stride;
  for (; log->brought < stride + AHEAD; log->brought++) advise(log, log->brought + 1, MADV_POPULATE_WRITE);
  for (; log->let_go + BEHIND < stride; log->let_go++) advise(log, log->let_go, MADV_DONTNEED);
  raw(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/* Start the thread unless it is at work. The kernel sets `tending` back to 0 once it has left its stack. */
static void ring(struct akv_log *log) {
  uint32_t idle = 0;
  if (!log->stack || !atomic_compare_exchange_strong(&log->tending, &idle, 1)) return;
  void **top = (void **)(log->stack + TEND_STACK);
  top[-1] = log;
  top[-2] = (void *)(uintptr_t)tend;
  uint64_t all = UINT64_MAX, before = 0;
  /* The thread inherits the mask: no handler of the program may ever run on it. */
  raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, 8, 0, 0);
  register long r10 __asm__("r10") = (long)&log->tending, r8 __asm__("r8") = 0;
  long thread = SYS_clone;
  __asm__ volatile("syscall\n\t"
                   "test %%rax, %%rax\n\t"
                   "jnz 1f\n\t"
                   "xor %%ebp, %%ebp\n\t"
                   "pop %%rax\n\t"
                   "pop %%rdi\n\t"
                   "call *%%rax\n\t"
                   "hlt\n"
                   "1:"
                   : "+a"(thread)
                   : "D"((long)(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                CLONE_CHILD_CLEARTID)),
                     "S"(top - 2), "d"(0L), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, 8, 0, 0);
  if (thread < 0) atomic_store(&log->tending, 0);
}

static void give_stack(struct akv_log *log) {
  char *stack = mmap(NULL, TEND_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack != MAP_FAILED) log->stack = stack;
}
#else
static void ring(struct akv_log *log) { (void)log; }
static void give_stack(struct akv_log *log) { (void)log; }
#endif

/* --- a process's file ------------------------------------------------------------------------------------------- */

static uint64_t word_of(enum akv_kind kind, unsigned flags, uint16_t name, uint64_t index) {
  return (uint64_t)kind | (uint64_t)flags << 8 | (uint64_t)name << 16 | (index + 1) << 32;
}

static void publish(struct akv_slot *slot, uint64_t word) {
  atomic_store_explicit((_Atomic uint64_t *)&slot->word, word, memory_order_release);
}

/* Append a text. Its offset among the names, or UINT64_MAX where there is no room. */
static uint64_t append_name(struct akv_log *log, enum akv_name what, uint16_t id, const char *text) {
  struct header *header = log->header;
  size_t length = strnlen(text, NAME_MOST + 1);
  uint16_t cut = 0;
  if (length > NAME_MOST) length = NAME_MOST, cut = 0x8000;
  uint64_t bytes = 8 + ((length + 7) & ~(size_t)7);
  uint64_t at = atomic_fetch_add(&header->names_reserved, bytes);
  if (at + bytes > header->names_bytes) {
    atomic_fetch_add(&header->names_lost, 1);
    return UINT64_MAX;
  }
  char *entry = (char *)header + NAMES_OFFSET + at;
  /* The length stands before the text, so that a reader can step over a text that was never finished. */
  uint64_t head = (uint64_t)length | (uint64_t)((uint16_t)what | cut) << 32 | (uint64_t)id << 48;
  atomic_store_explicit((_Atomic uint64_t *)entry, head, memory_order_release);
  memcpy(entry + 8, text, length);
  atomic_store_explicit((_Atomic uint64_t *)entry, head | 1u << 31, memory_order_release);
  return at;
}

/* The offset of a text, appended unless it is there already. */
static uint64_t name_once(struct akv_log *log, enum akv_name what, const char *text) {
  uint64_t hash = 14695981039346656037u ^ (uint64_t)what; /* FNV-1a */
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) hash = (hash ^ *c) * 1099511628211u;
  hash |= 1;
  for (unsigned probe = 0; probe < 16; probe++) {
    struct text *known = &log->texts[(hash + probe) % TEXTS];
    uint64_t found = 0;
    if (atomic_compare_exchange_strong(&known->hash, &found, hash)) {
      uint64_t at = append_name(log, what, 0, text);
      atomic_store_explicit(&known->offset_and_one, at + 1, memory_order_release);
      return at;
    }
    if (found == hash) {
      uint64_t at = atomic_load_explicit(&known->offset_and_one, memory_order_acquire);
      if (at) return at - 1;
      break; /* another thread is just writing it: twice is no harm */
    }
  }
  return append_name(log, what, 0, text);
}

static void forget(struct akv_log *log, const char *path) {
  if (path) unlink(path);
  if (log->stack) munmap(log->stack, TEND_STACK);
  if (log->header) munmap(log->header, RECORDS_OFFSET + log->header->capacity * sizeof(struct akv_slot));
  munmap(log, sizeof *log);
}

static void fill_header(struct akv_log *log, uint64_t capacity) {
  struct header *header = log->header;
  header->version = 1;
  header->header_bytes = HEADER_BYTES;
  header->record_bytes = sizeof(struct akv_slot);
  header->flags = config.wrap;
  header->names_offset = NAMES_OFFSET;
  header->names_bytes = NAMES_BYTES;
  header->counts_offset = HEADER_BYTES;
  header->counts = COUNTS;
  header->records_offset = RECORDS_OFFSET;
  header->capacity = capacity;
  header->pid = (uint32_t)getpid();
  header->parent = (uint32_t)getppid();
  header->started = moment();
  strncpy(header->producer, akv_producer.version, sizeof header->producer - 1);
  ssize_t n = readlink("/proc/self/exe", header->executable, sizeof header->executable - 1);
  if (n < 0) header->executable[0] = 0;
  for (uint16_t id = 0; id < akv_producer.count; id++) append_name(log, AKV_CALL_NAME, id, akv_producer.names[id]);
  /* The magic last: a file without it was never begun. */
  uint64_t magic;
  memcpy(&magic, "\x89" "AKVLOG\n", 8);
  atomic_store_explicit((_Atomic uint64_t *)header->magic, magic, memory_order_release);
}

/* Give the file its final name; a process id comes again after exec, and in a long capture. 0 or an errno. */
static int give_name(struct akv_log *log, const char *part) {
  for (unsigned n = 0; n < 10000; n++) {
    int length = snprintf(log->path, sizeof log->path, n ? "%s/%s-%d.%u.akvlog" : "%s/%s-%d.akvlog",
                          config.directory, akv_producer.prefix, (int)getpid(), n);
    if (length < 0 || (size_t)length >= sizeof log->path) return ENAMETOOLONG;
    long result = raw(SYS_renameat2, AT_FDCWD, (long)part, AT_FDCWD, (long)log->path, RENAME_NOREPLACE, 0);
    if (result == -EINVAL || result == -ENOSYS) { /* a file system that cannot */
      result = link(part, log->path) ? -errno : 0;
      if (!result) unlink(part);
    }
    if (result != -EEXIST) return (int)-result;
  }
  return EEXIST;
}

/* Map the file, with as much of the cap as there is address space for. 0 or an errno. */
static int map(struct akv_log *log, int fd) {
  uint64_t capacity = config.cap, first = capacity < FIRST ? capacity : FIRST;
  int error = take(log, fd, 0, RECORDS_OFFSET + first * sizeof(struct akv_slot));
  for (; !error; capacity /= 2) {
    size_t bytes = RECORDS_OFFSET + capacity * sizeof(struct akv_slot);
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base != MAP_FAILED) {
      madvise(base, bytes, MADV_DONTFORK);
      log->header = base;
      log->slots = (struct akv_slot *)((char *)base + RECORDS_OFFSET);
      log->mask = config.wrap ? capacity - 1 : UINT64_MAX;
      atomic_store(&log->ready, first == capacity && config.wrap ? UINT64_MAX : first);
      fill_header(log, capacity);
      atomic_store(&log->header->made, first);
      return 0;
    }
    if (capacity / 2 < first) error = errno;
  }
  return error;
}

/* Make a file: under another name until its header is whole, so that whoever finds it by its name can read it.
 * NULL: it cannot be had. */
static struct akv_log *make_log(void) {
  struct akv_log *log = mmap(NULL, sizeof *log, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (log == MAP_FAILED) return NULL;
  log->generation = akv_now();
  char part[PATH_MAX + 64];
  /* Two threads may read the same nanosecond. */
  snprintf(part, sizeof part, "%s/.%s-%d-%ld-%llu.part", config.directory, akv_producer.prefix, (int)getpid(),
           raw(SYS_gettid, 0, 0, 0, 0, 0, 0), (unsigned long long)log->generation);
  int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) {
    akv_say("no file in %s: %s", config.directory, strerror(errno));
    forget(log, NULL);
    return NULL;
  }
  struct stat made;
  int error = fstat(fd, &made) ? errno : 0;
  log->device = made.st_dev;
  log->inode = made.st_ino;
  if (!error) error = map(log, fd);
  close(fd);
  if (!error) error = give_name(log, part);
  if (!error) give_stack(log);
  if (error) {
    akv_say("no file of records in %s: %s", config.directory, strerror(error));
    forget(log, part);
    return NULL;
  }
  return log;
}

static void start_afresh_after_fork(void) { atomic_store(&page.log, NULL); }

/* The first recorded call of a process: make the file, or learn that there is none. Threads and signal handlers may
 * arrive here at once; each makes a file, one wins, the others take theirs away again. */
static struct akv_log *begin(void) {
  int before = errno;
  read_config();
  struct akv_log *made = OFF, *current = NULL;
  if (config.wanted) {
    if (madvise(&page, sizeof page, MADV_WIPEONFORK) && !config.cannot_wipe) {
      config.cannot_wipe = true; /* a kernel before 4.14 */
      pthread_atfork(NULL, NULL, start_afresh_after_fork);
    }
    made = make_log();
    if (!made) made = OFF;
  }
  if (atomic_compare_exchange_strong(&page.log, &current, made)) {
    current = made;
  } else if (made != OFF) {
    forget(made, made->path);
  }
  errno = before;
  return current;
}

static inline struct akv_log *the_log(void) {
  struct akv_log *log = atomic_load_explicit(&page.log, memory_order_acquire);
  if (unlikely(!log)) log = begin();
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
      !grow(log, index + records)) {
    /* What is reserved below the end of the file stays a hole; only what lies beyond is counted here. */
    uint64_t end = atomic_load_explicit(&log->ready, memory_order_acquire);
    atomic_fetch_add_explicit(&log->header->lost, index < end ? index + records - end : records, memory_order_relaxed);
    return UINT64_MAX;
  }
  if (unlikely((index + records) / STRIDE != index / STRIDE)) ring(log);
  return index;
}

/* --- recording -------------------------------------------------------------------------------------------------- */

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
  if (!call->slot || !count || !words || atomic_load_explicit(&page.log, memory_order_relaxed) != log) return;
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
  if (unlikely(atomic_load_explicit(&page.log, memory_order_relaxed) != log)) return;
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
  struct akv_log *log = atomic_load_explicit(&page.log, memory_order_acquire);
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
  uint64_t at = name_once(log, AKV_OBJECT_NAME, text);
  if (at == UINT64_MAX) return;
  const uint64_t words[4] = {handle, at, 0, 0};
  record(AKV_OBJECT, akv_now(), 0, (int32_t)what, words);
}

void akv_note(const char *text) {
  struct akv_log *log = the_log();
  if (log) name_once(log, AKV_NOTE, text);
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

/* --- the end ---------------------------------------------------------------------------------------------------- */

__attribute__((weak)) void akv_closing(void) {}

static int write_base_name(struct dl_phdr_info *info, size_t size, void *fd) {
  (void)size;
  const char *name = info->dlpi_name, *slash = name ? strrchr(name, '/') : NULL;
  if (slash) name = slash + 1;
  if (name && *name) dprintf(*(int *)fd, "%s\n", name);
  return 0;
}

/* A process that was asked to record and saw no call says what was mapped, for whoever wonders why. */
static void say_what_was_mapped(void) {
  char path[PATH_MAX + 32];
  int n = snprintf(path, sizeof path, "%s/maps-%d.txt", config.directory, (int)getpid());
  if (n < 0 || (size_t)n >= sizeof path) return;
  struct rlimit most;
  if (getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur < 1 << 20) return; /* SIGXFSZ would end the program */
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return;
  dl_iterate_phdr(write_base_name, &fd);
  close(fd);
}

__attribute__((constructor)) static void load(void) {
  int before = errno;
  read_config();
  errno = before;
}

__attribute__((destructor)) static void unload(void) {
  int before = errno;
  struct akv_log *log = atomic_load(&page.log);
  if (config.wanted && !log) say_what_was_mapped();
  if (log && log != OFF) {
    akv_closing();
    log->header->closed_at = moment();
    atomic_store_explicit(&log->header->closed, 1, memory_order_release);
  }
  errno = before;
}
