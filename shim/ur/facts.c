/* What is written down beside the calls: names of kernels, and which runtime and devices they were made on. */
#define _GNU_SOURCE
#include "ur.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool ur_info(unsigned way, unsigned name, const void *handle, uint32_t what, void *value, size_t bytes) {
  int32_t (*get)(const void *, uint32_t, size_t, void *, size_t *) = ur_own(way, name);
  return get && !get(handle, what, bytes, value, NULL);
}

/* A text may be longer than there is room for; its own size is asked first. */
static bool text_of(unsigned way, unsigned name, const void *handle, uint32_t what, char *text, size_t room) {
  int32_t (*get)(const void *, uint32_t, size_t, void *, size_t *) = ur_own(way, name);
  size_t bytes = 0;
  if (!get || get(handle, what, 0, NULL, &bytes) || !bytes || bytes > room) return false;
  if (get(handle, what, bytes, text, NULL)) return false;
  text[bytes - 1] = 0;
  return text[0] != 0;
}

void ur_work(struct akv_call *call, uint32_t dimensions, const void *global, const void *local) {
  uint64_t words[6] = {0};
  if (!call->slot) return;
  const size_t *sizes[2] = {global, local};
  for (int n = 0; n < 2; n++)
    for (uint32_t d = 0; sizes[n] && d < dimensions && d < 3; d++) words[3 * n + d] = sizes[n][d];
  akv_words(call, AKV_WORK, words, local ? 6 : 3);
}

void ur_name_kernel(unsigned way, void *kernel) {
  int before = errno;
  char name[4096];
  if (text_of(way, N_urKernelGetInfo, kernel, UR_KERNEL_INFO_FUNCTION_NAME, name, sizeof name))
    akv_object(AKV_KERNEL, (uint64_t)kernel, name);
  errno = before;
}

/* Compilers leave their versions in the section `.comment`; that of oneAPI's is the release of the runtime. */
static void first_comment(const char *at, const char *end, char *text, size_t room) {
  const char *chosen = NULL;
  for (const char *next; at < end; at = next) {
    size_t length = strnlen(at, (size_t)(end - at));
    next = at + length + 1;
    if (!length || at + length == end) continue; /* a text without its end is none */
    if (!chosen || strstr(at, "oneAPI")) chosen = at;
    if (strstr(chosen, "oneAPI")) break;
  }
  if (chosen) snprintf(text, room, "%s", chosen);
}

static void comment_in(const char *base, size_t bytes, char *text, size_t room) {
  const ElfW(Ehdr) *head = (const void *)base;
  const ElfW(Shdr) *sections = (const void *)(base + head->e_shoff);
  if (head->e_shoff >= bytes || head->e_shnum > (bytes - head->e_shoff) / sizeof *sections ||
      head->e_shstrndx >= head->e_shnum)
    return;
  size_t names = sections[head->e_shstrndx].sh_offset;
  for (unsigned n = 0; n < head->e_shnum; n++) {
    size_t name = names + sections[n].sh_name, at = sections[n].sh_offset, end = at + sections[n].sh_size;
    if (name > bytes - 9 || memcmp(base + name, ".comment", 9) || end < at || end > bytes) continue;
    first_comment(base + at, base + end, text, room);
  }
}

void ur_comment(const char *path, char *text, size_t room) {
  text[0] = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat file;
  if (fd < 0) return;
  if (!fstat(fd, &file) && (size_t)file.st_size > sizeof(ElfW(Ehdr))) {
    char *base = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base != MAP_FAILED) {
      comment_in(base, (size_t)file.st_size, text, room);
      munmap(base, (size_t)file.st_size);
    }
  }
  close(fd);
}

static int note_library(struct dl_phdr_info *object, size_t size, void *data) {
  (void)size, (void)data;
  const char *path = object->dlpi_name, *slash = path ? strrchr(path, '/') : NULL;
  const char *name = slash ? slash + 1 : path;
  if (!name || (strncmp(name, "libsycl.so", 10) && strncmp(name, "libur_", 6))) return 0;
  char comment[256];
  ur_comment(path, comment, sizeof comment);
  akv_notef("runtime=%s %s", name, comment[0] ? comment : "unknown");
  return 0;
}

/* An adapter answered: by now everything that matters is mapped. */
void ur_note_adapter(unsigned way) {
  static const char *const timing[] = {"asis", "on", "off"};
  static atomic_flag once = ATOMIC_FLAG_INIT;
  int before = errno;
  if (!atomic_flag_test_and_set(&once)) {
    akv_notef("path=%s", way ? "tables" : "exports");
    akv_notef("timing=%s", timing[ur_timing]);
    akv_note("headers=" UR_HEADERS);
  }
  /* Each text is kept once, so that a second adapter adds only what is new. */
  dl_iterate_phdr(note_library, NULL);
  errno = before;
}

void ur_note_device(unsigned way, void *device) {
  int before = errno;
  if (ur_clock_device(way, device)) {
    char name[256], driver[256];
    if (!text_of(way, N_urDeviceGetInfo, device, UR_DEVICE_INFO_NAME, name, sizeof name)) strcpy(name, "unknown");
    if (!text_of(way, N_urDeviceGetInfo, device, UR_DEVICE_INFO_DRIVER_VERSION, driver, sizeof driver))
      strcpy(driver, "unknown");
    akv_notef("device=%s driver=%s", name, driver);
  }
  errno = before;
}
