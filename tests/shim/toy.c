/* A producer with calls that do nothing, to try the recorder: toy ENDING CALLS THREADS [PROGRESS]
 *
 * ENDING: exit, _exit, term, kill (of itself), hang (one call stays open), loop (until it is killed), fork, bare-fork
 * (no handlers run), exec, in-signal (the first call is made in a signal handler), thread-ends (a call in a
 * destructor of the thread's own memory), inside-fork (a forked
 * child returns from a call that its parent entered), limit (RLIMIT_FSIZE), close-all, memory (prints it, early and late),
 * sys-exit (the leader leaves alone, without exit_group), alone (1 unless unshare finds other threads), no-files (no byte
 * may be written).
 * With TOY_EARLY=1 a call is made before any constructor ran, with TOY_LATE=1 one after all destructors.
 * The object of each call is the number of its thread.
 * PROGRESS: a file of one 64-bit counter a thread; counted up after each call has returned.
 */
#define _GNU_SOURCE
#include "akvlog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {"toyNothing", "toyCopy", "toyLaunch", "toyWait"};
const struct akv_producer akv_producer = {"toy", "toy 1", names, 4};

static uint64_t *progress;
static unsigned long calls;

static void one_call(uint64_t n, uint64_t thread) {
  uint64_t waits[20];
  size_t count = n % 8 == 3 ? n % 20 : 0;
  for (size_t i = 0; i < count; i++) waits[i] = n + i;
  struct akv_call call = akv_enter((uint16_t)(n % 4), akv_room(count));
  if (call.slot) {
    call.slot->queue = 1000 + n % 3;
    call.slot->bytes = n;
    call.slot->object = thread;
  }
  akv_words(&call, AKV_WAITS, waits, count);
  akv_exit(&call, n % 100 == 99 ? 7 : 0, n, n % 2 ? AKV_BLOCKING : 0);
}

static void *make_calls(void *thread) {
  uintptr_t number = (uintptr_t)thread;
  for (uint64_t n = 0; n < calls; n++) {
    errno = 42;
    one_call(n, number);
    if (errno != 42) abort();
    if (progress) __atomic_fetch_add(&progress[number], 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void in_handler(int signal) {
  (void)signal;
  one_call(0, 0);
}

/* Before libc itself is set up: getenv finds nothing yet. */
static void before_constructors(int argc, char **argv, char **environment) {
  (void)argc, (void)argv;
  for (; *environment; environment++)
    if (!strcmp(*environment, "TOY_EARLY=1")) one_call(0, 0);
}
__attribute__((section(".preinit_array"), used)) static void (*const early)(int, char **, char **) = before_constructors;

/* A destructor of the lowest priority runs last. */
__attribute__((destructor(101))) static void after_destructors(void) {
  if (getenv("TOY_LATE")) one_call(0, 0);
}

static void when_the_thread_ends(void *value) { one_call(0, (uintptr_t)value); }

static void *end_with_a_call(void *key) {
  pthread_setspecific(*(pthread_key_t *)key, (void *)7);
  make_calls((void *)7);
  return NULL;
}

static void say_memory(void) {
  char line[256];
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  while (file && fgets(line, sizeof line, file))
    if (!strncmp(line, "Rss:", 4) || !strncmp(line, "Anonymous:", 10)) fputs(line, stdout);
  if (file) fclose(file);
}

static void all_threads(int threads) {
  pthread_t made[64];
  for (int i = 1; i < threads; i++) pthread_create(&made[i], NULL, make_calls, (void *)(uintptr_t)i);
  make_calls(NULL);
  for (int i = 1; i < threads; i++) pthread_join(made[i], NULL);
}

int main(int argc, char **argv) {
  if (argc < 4) return 64;
  const char *ending = argv[1];
  calls = strtoul(argv[2], NULL, 10);
  int threads = atoi(argv[3]);
  if (argc > 4) {
    int fd = open(argv[4], O_RDWR | O_CREAT, 0644);
    if (ftruncate(fd, 64 * 8)) return 65;
    progress = mmap(NULL, 64 * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
  }
  if (!strcmp(ending, "in-signal")) {
    signal(SIGUSR1, in_handler);
    raise(SIGUSR1);
  }
  if (!strcmp(ending, "limit")) {
    struct rlimit most = {4 << 20, 4 << 20};
    setrlimit(RLIMIT_FSIZE, &most);
  }
  if (!strcmp(ending, "no-files")) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  if (!strcmp(ending, "close-all")) {
    one_call(0, 0);
    for (int fd = 3; fd < 64; fd++) close(fd);
    for (int i = 0; i < 8; i++)
      if (open("/dev/null", O_RDWR) < 0) return 66;
  }
  if (!strcmp(ending, "inside-fork")) {
    struct akv_call call = akv_enter(1, 1);
    pid_t child = fork();
    if (!child) one_call(1, 0);
    uint64_t word = 5;
    akv_words(&call, AKV_WAITS, &word, 1);
    akv_exit(&call, 0, 0, 0);
    if (!child) _exit(0);
    int status;
    waitpid(child, &status, 0);
    return status ? 67 : 0;
  }
  if (!strcmp(ending, "thread-ends")) {
    pthread_key_t key;
    pthread_t made;
    pthread_key_create(&key, when_the_thread_ends);
    for (int n = 0; n < 50; n++) {
      pthread_create(&made, NULL, end_with_a_call, &key);
      pthread_join(made, NULL);
    }
    return 0;
  }
  if (!strcmp(ending, "memory")) {
    unsigned long most = calls;
    calls = most / 20;
    make_calls(NULL);
    say_memory();
    calls = most;
    make_calls(NULL);
    say_memory();
    return 0;
  }
  if (!strcmp(ending, "loop")) calls = ~0ul;
  all_threads(threads);
  if (!strcmp(ending, "_exit")) _exit(0);
  if (!strcmp(ending, "sys-exit")) syscall(SYS_exit, 0);
  if (!strcmp(ending, "alone")) {
    /* The thread that tends the file is at work for a moment. */
    for (int tries = 0; tries < 1000; tries++) {
      if (!unshare(CLONE_NEWUSER) || errno != EINVAL) return 0;
      usleep(1000);
    }
    return 1;
  }
  if (!strcmp(ending, "term")) kill(getpid(), SIGTERM);
  if (!strcmp(ending, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(ending, "hang")) {
    akv_enter(3, 0);
    printf("hanging\n");
    fflush(stdout);
    pause();
  }
  if (!strcmp(ending, "exec")) execl("/proc/self/exe", "toy", "_exit", argv[2], "1", NULL);
  if (!strcmp(ending, "fork") || !strcmp(ending, "bare-fork")) {
    pid_t child = ending[0] == 'f' ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    all_threads(ending[0] == 'f' ? threads : 1);
    if (!child) exit(0);
    int status;
    waitpid(child, &status, 0);
    return status ? 67 : 0;
  }
  return 0;
}
