/* A process's file: made at the first recorded call, since a preload is mapped by every helper of a shell script; closed
 * at the normal exit. */
#define _GNU_SOURCE
#include "log.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

union akv_page akv_page __attribute__((aligned(4096)));

static struct moment moment(void) {
  struct moment m;
  m.before = (int64_t)clock_ns(CLOCK_MONOTONIC);
  m.realtime = (int64_t)clock_ns(CLOCK_REALTIME);
  m.after = (int64_t)clock_ns(CLOCK_MONOTONIC);
  m.raw = (int64_t)clock_ns(CLOCK_MONOTONIC_RAW);
  return m;
}

/* --- names ------------------------------------------------------------------------------------------------------ */

/* Append a text. Its offset among the names, or UINT64_MAX where there is no room. */
uint64_t akv_append_name(struct akv_log *log, enum akv_name what, uint16_t id, const char *text) {
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
uint64_t akv_name_once(struct akv_log *log, enum akv_name what, const char *text) {
  uint64_t hash = 14695981039346656037u ^ (uint64_t)what; /* FNV-1a */
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) hash = (hash ^ *c) * 1099511628211u;
  hash |= 1;
  for (unsigned probe = 0; probe < 16; probe++) {
    struct text *known = &log->texts[(hash + probe) % TEXTS];
    uint64_t found = 0;
    if (atomic_compare_exchange_strong(&known->hash, &found, hash)) {
      uint64_t at = akv_append_name(log, what, 0, text);
      atomic_store_explicit(&known->offset_and_one, at + 1, memory_order_release);
      return at;
    }
    if (found == hash) {
      uint64_t at = atomic_load_explicit(&known->offset_and_one, memory_order_acquire);
      if (at) return at - 1;
      break; /* another thread is just writing it: twice is no harm */
    }
  }
  return akv_append_name(log, what, 0, text);
}

/* --- the file ---------------------------------------------------------------------------------------------------- */

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
  header->flags = akv_settings.wrap;
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
  for (uint16_t id = 0; id < akv_producer.count; id++) akv_append_name(log, AKV_CALL_NAME, id, akv_producer.names[id]);
  /* The magic last: a file without it was never begun. */
  uint64_t magic;
  memcpy(&magic, "\x89" "AKVLOG\n", 8);
  atomic_store_explicit((_Atomic uint64_t *)header->magic, magic, memory_order_release);
}

/* Give the file its final name; a process id comes again after exec, and in a long capture. 0 or an errno. */
static int give_name(struct akv_log *log, const char *part) {
  for (unsigned n = 0; n < 10000; n++) {
    int length = snprintf(log->path, sizeof log->path, n ? "%s/%s-%d.%u.akvlog" : "%s/%s-%d.akvlog",
                          akv_settings.directory, akv_producer.prefix, (int)getpid(), n);
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
  uint64_t capacity = akv_settings.cap, first = capacity < FIRST ? capacity : FIRST;
  int error = akv_take(log, fd, 0, RECORDS_OFFSET + first * sizeof(struct akv_slot));
  for (; !error; capacity /= 2) {
    size_t bytes = RECORDS_OFFSET + capacity * sizeof(struct akv_slot);
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base != MAP_FAILED) {
      madvise(base, bytes, MADV_DONTFORK);
      log->header = base;
      log->slots = (struct akv_slot *)((char *)base + RECORDS_OFFSET);
      log->mask = akv_settings.wrap ? capacity - 1 : UINT64_MAX;
      atomic_store(&log->ready, first == capacity && akv_settings.wrap ? UINT64_MAX : first);
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
  snprintf(part, sizeof part, "%s/.%s-%d-%ld-%llu.part", akv_settings.directory, akv_producer.prefix, (int)getpid(),
           raw(SYS_gettid, 0, 0, 0, 0, 0, 0), (unsigned long long)log->generation);
  int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) {
    akv_say("no file in %s: %s", akv_settings.directory, strerror(errno));
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
  if (!error) akv_give_stack(log);
  if (error) {
    akv_say("no file of records in %s: %s", akv_settings.directory, strerror(error));
    forget(log, part);
    return NULL;
  }
  return log;
}

static void start_afresh_after_fork(void) { atomic_store(&akv_page.log, NULL); }

/* The first recorded call of a process: make the file, or learn that there is none. Threads and signal handlers may
 * arrive here at once; each makes a file, one wins, the others take theirs away again. */
struct akv_log *akv_begin(void) {
  int before = errno;
  akv_read_settings();
  struct akv_log *made = OFF, *current = NULL;
  if (akv_settings.wanted) {
    if (madvise(&akv_page, sizeof akv_page, MADV_WIPEONFORK) && !akv_settings.cannot_wipe) {
      akv_settings.cannot_wipe = true; /* a kernel before 4.14 */
      pthread_atfork(NULL, NULL, start_afresh_after_fork);
    }
    made = make_log();
    if (!made) made = OFF;
  }
  if (atomic_compare_exchange_strong(&akv_page.log, &current, made)) {
    current = made;
  } else if (made != OFF) {
    forget(made, made->path);
  }
  errno = before;
  return current;
}

/* --- another folder --------------------------------------------------------------------------------------------- */

__attribute__((weak)) void akv_closing(void) {}
__attribute__((weak)) bool akv_silent(void) { return false; }

static void close_log(struct akv_log *log) {
  akv_closing();
  log->header->closed_at = moment();
  atomic_store_explicit(&log->header->closed, 1, memory_order_release);
}

bool akv_choose(const char *directory) {
  if (strlen(directory) >= PATH_MAX - 64) return false;
  akv_read_settings();
  struct akv_log *log = atomic_exchange(&akv_page.log, NULL);
  strcpy(akv_settings.directory, directory);
  akv_settings.wanted = true;
  if (log && log != OFF) {
    close_log(log);
    while (atomic_load(&log->tending)) sched_yield();
    forget(log, NULL);
  }
  return true;
}

/* --- the end ---------------------------------------------------------------------------------------------------- */

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
  int n = snprintf(path, sizeof path, "%s/maps-%d.txt", akv_settings.directory, (int)getpid());
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
  akv_read_settings();
  errno = before;
}

__attribute__((destructor)) static void unload(void) {
  int before = errno;
  struct akv_log *log = atomic_load(&akv_page.log);
  if (akv_settings.wanted && !log && !akv_silent()) say_what_was_mapped();
  if (log && log != OFF) close_log(log);
  errno = before;
}
