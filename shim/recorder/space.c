/* Space on the disk: taken before it is touched, and ahead of the writers.
 *
 *   - No descriptor is kept: programs that close all of theirs would leave us with a number that soon means another
 *     file. The file is opened by its path for the moments in which it grows.
 *   - A store into a mapped page without room on the disk ends in SIGBUS, so room is taken first.
 *   - A thread without libc tends the file, for a moment at every 16,384 records: it takes space ahead of the writers,
 *     brings the next pages in, and lets go of those behind. It has no TLS of its own, so it makes raw system calls only
 *     and runs with every signal blocked. Where it is late, or cannot be had, the writer that needs the space takes it.
 */
#define _GNU_SOURCE
#include "log.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

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
int akv_take(struct akv_log *log, int fd, uint64_t from, uint64_t to) {
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
bool akv_grow(struct akv_log *log, uint64_t needed) {
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
                       : akv_take(log, fd, RECORDS_OFFSET + ready * sizeof(struct akv_slot),
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
  akv_grow(log, wanted);
  if (log->brought < stride) log->brought = stride;
  for (; log->brought < stride + AHEAD; log->brought++) advise(log, log->brought + 1, MADV_POPULATE_WRITE);
  for (; log->let_go + BEHIND < stride; log->let_go++) advise(log, log->let_go, MADV_DONTNEED);
  raw(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/* Start the thread unless it is at work. The kernel sets `tending` back to 0 once it has left its stack. */
void akv_ring(struct akv_log *log) {
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

void akv_give_stack(struct akv_log *log) {
  char *stack = mmap(NULL, TEND_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack != MAP_FAILED) log->stack = stack;
}
#else
void akv_ring(struct akv_log *log) { (void)log; }
void akv_give_stack(struct akv_log *log) { (void)log; }
#endif
