/* What the recorder was asked for, read once from the environment:
 *
 *   AKV_DIR      folder of the files; not set: nothing is recorded
 *   AKV_CAP      bytes of records at most, with K, M or G (default 4G); a file grows up to it in pieces
 *   AKV_FULL     stop (default) or wrap: what happens when the cap is reached
 *   AKV_VERBOSE  1: say on standard error what went wrong
 */
#define _GNU_SOURCE
#include "log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct akv_settings akv_settings;

void akv_say(const char *format, ...) {
  if (!akv_settings.verbose) return;
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
void akv_read_settings(void) {
  if (atomic_load_explicit(&akv_settings.read, memory_order_acquire)) return;
  char *early = environ ? NULL : early_environment();
  const char *verbose = setting(early, "AKV_VERBOSE"), *directory = setting(early, "AKV_DIR"),
             *full = setting(early, "AKV_FULL");
  akv_settings.verbose = verbose && !strcmp(verbose, "1");
  akv_settings.wrap = full && !strcmp(full, "wrap");
  if (full && *full && strcmp(full, "wrap") && strcmp(full, "stop"))
    akv_say("AKV_FULL=%s is neither stop nor wrap; stop is used", full);
  akv_settings.cap = cap_of(setting(early, "AKV_CAP"));
  if (akv_settings.wrap) akv_settings.cap = 1ull << (63 - __builtin_clzll(akv_settings.cap));
  akv_settings.wanted = directory && *directory && strlen(directory) < PATH_MAX - 64;
  if (akv_settings.wanted) {
    size_t at = 0;
    if (directory[0] != '/') { /* the program may change its folder */
      /* A folder that is gone has no path, or one that does not begin at the root. */
      akv_settings.wanted = getcwd(akv_settings.directory, PATH_MAX / 2) && akv_settings.directory[0] == '/';
      at = akv_settings.wanted ? strlen(akv_settings.directory) : 0;
      akv_settings.directory[at++] = '/';
    }
    if (at + strlen(directory) < PATH_MAX - 64)
      strcpy(akv_settings.directory + at, directory);
    else
      akv_settings.wanted = false;
    if (!akv_settings.wanted) akv_say("AKV_DIR=%s: there is no such path from here", directory);
  }
  atomic_store_explicit(&akv_settings.read, 1, memory_order_release);
  if (early) munmap(early, ENVIRONMENT_MOST);
}

bool akv_on(void) {
  int before = errno;
  akv_read_settings();
  errno = before;
  return akv_settings.wanted;
}
