/* A program over fake_ur.c. Built as a library that main.c opens locally, as Python extensions are; it says what it saw. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct properties {
  uint32_t stype;
  void *next;
  uint32_t flags;
};
struct queue {
  int references;
  uint32_t flags;
  void *next;
};
typedef void *event_t;
int32_t urAdapterGet(uint32_t, void **, uint32_t *);
int32_t urAdapterRelease(void *);
int32_t urContextCreate(uint32_t, void *, void *, void **);
int32_t urDeviceGet(void *, uint32_t, uint32_t, void **, uint32_t *);
int32_t urQueueCreate(void *, void *, const struct properties *, struct queue **);
int32_t urQueueRelease(struct queue *);
int32_t urQueueFinish(struct queue *);
int32_t urKernelCreate(void *, const char *, void **);
int32_t urKernelCreateWithNativeHandle(uintptr_t, void *, void *, void *, void **);
int32_t urEnqueueUSMMemcpy(struct queue *, _Bool, void *, const void *, size_t, uint32_t, const event_t *, event_t *);
int32_t urEnqueueKernelLaunch(struct queue *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,
                              const void *, uint32_t, const event_t *, event_t *);
int32_t urEventWait(uint32_t, const event_t *);
int32_t urEventRelease(event_t);
int32_t urGraphDestroyExp(void *) __attribute__((weak));
int fake_live_events(void);

static void *adapter, *context, *device;
static char from[64];
static _Thread_local char to[64];

static struct queue *queue_with(const struct properties *properties) {
  struct queue *queue;
  urQueueCreate(context, device, properties, &queue);
  return queue;
}

static event_t copy(struct queue *queue) {
  event_t event = NULL;
  urEnqueueUSMMemcpy(queue, 0, to, from, sizeof from, 0, NULL, &event);
  return event;
}

static void flags(void) {
  char chained;
  struct properties plain = {14, NULL, 1}, profiled = {14, NULL, 3}, chain = {14, &chained, 0}, other = {99, NULL, 0},
                    discards = {14, NULL, 16};
  printf("null %u\n", queue_with(NULL)->flags);
  printf("plain %u\n", queue_with(&plain)->flags);
  printf("profiled %u\n", queue_with(&profiled)->flags);
  printf("chain %u %d\n", queue_with(&chain)->flags, queue_with(&chain)->next == &chained);
  printf("other %u\n", queue_with(&other)->flags);
  printf("discards %u\n", queue_with(&discards)->flags);
  printf("given %u %u %u\n", plain.flags, profiled.flags, chain.flags);
}

/* Every role once, with values that a reader can check. */
static void every(void) {
  struct queue *queue = queue_with(NULL);
  void *kernel, *native;
  event_t events[9], launched;
  size_t global[3] = {64, 8, 2}, local[3] = {16, 4, 1};
  urKernelCreate(NULL, "first_kernel", &kernel);
  urKernelCreateWithNativeHandle(1, context, NULL, NULL, &native);
  for (int n = 0; n < 9; n++) events[n] = copy(queue);
  urEnqueueKernelLaunch(queue, kernel, 3, NULL, global, local, 0, NULL, 9, events, &launched);
  urEnqueueKernelLaunch(queue, native, 1, NULL, global, NULL, 0, NULL, 0, NULL, NULL);
  urEnqueueUSMMemcpy(queue, 1, to, from, 32, 1, &launched, NULL);
  urEventWait(9, events);
  for (int n = 0; n < 9; n++) urEventRelease(events[n]);
  urEventRelease(launched);
  printf("queue %lu kernel %lu native %lu launched %lu to %lu from %lu\n", (long)queue, (long)kernel, (long)native,
         (long)launched, (long)to, (long)from);
  printf("failed %d\n", urEnqueueUSMMemcpy(NULL, 0, to, from, 1, 0, NULL, NULL));
  urQueueFinish(queue);
}

/* Events are let go while they run; those of the second half are never asked for. */
static void events(void) {
  struct queue *queue = queue_with(NULL);
  for (int n = 0; n < 100; n++) urEventRelease(copy(queue));
  for (int n = 0; n < 100; n++) urEnqueueUSMMemcpy(queue, 0, to, from, 8, 0, NULL, NULL);
  urQueueFinish(queue);
  printf("live %d\n", fake_live_events());
}

static void overflow(void) {
  struct queue *queue = queue_with(NULL);
  for (int n = 0; n < 20000; n++) urEventRelease(copy(queue));
  urQueueFinish(queue);
}

static void release(void) {
  struct queue *queue = queue_with(NULL), *other = queue_with(NULL);
  for (int n = 0; n < 5; n++) urEventRelease(copy(queue)), urEventRelease(copy(other));
  urQueueRelease(queue);
  printf("live %d\n", fake_live_events());
}

static void keeps_errno(void) {
  errno = 17;
  struct queue *queue = queue_with(NULL);
  printf("create %d\n", errno);
  errno = 18;
  event_t event = copy(queue);
  printf("enqueue %d\n", errno);
  errno = 19;
  urEventWait(1, &event);
  printf("wait %d\n", errno);
}

static void *copies(void *queue) {
  for (int n = 0; n < 3000; n++) {
    event_t event = copy(queue);
    if (n % 3 == 0) urEventWait(1, &event);
    urEventRelease(event);
    if (n % 500 == 499) urQueueFinish(queue);
  }
  return NULL;
}

static void threads(void) {
  pthread_t thread[4];
  for (int n = 0; n < 4; n++) pthread_create(&thread[n], NULL, copies, queue_with(NULL));
  for (int n = 0; n < 4; n++) pthread_join(thread[n], NULL);
}

static void forks(void) {
  struct queue *queue = queue_with(NULL);
  for (int n = 0; n < 7; n++) urEventRelease(copy(queue));
  pid_t child = fork();
  if (!child) {
    queue = queue_with(NULL);
    for (int n = 0; n < 3; n++) urEventRelease(copy(queue));
    urQueueFinish(queue);
    exit(0);
  }
  waitpid(child, NULL, 0);
  urQueueFinish(queue);
}

static void ends(const char *how) {
  struct queue *queue = queue_with(NULL);
  for (int n = 0; n < 1000; n++) urEnqueueUSMMemcpy(queue, 0, to, from, 8, 0, NULL, NULL);
  if (!strcmp(how, "_exit")) _exit(0);
  raise(strcmp(how, "term") ? SIGKILL : SIGTERM);
}

void run(const char *what) {
  uint32_t count;
  urAdapterGet(1, &adapter, &count);
  urContextCreate(1, NULL, NULL, &context);
  urDeviceGet(NULL, 0, 1, &device, NULL);
  if (!strcmp(what, "flags")) flags();
  if (!strcmp(what, "every")) every();
  if (!strcmp(what, "events")) events();
  if (!strcmp(what, "overflow")) overflow();
  if (!strcmp(what, "release")) release();
  if (!strcmp(what, "errno")) keeps_errno();
  if (!strcmp(what, "threads")) threads();
  if (!strcmp(what, "fork")) forks();
  if (!strcmp(what, "missing")) printf("missing %d\n", urGraphDestroyExp(NULL));
  if (!strcmp(what, "_exit") || !strcmp(what, "term") || !strcmp(what, "kill")) ends(what);
  if (!strcmp(what, "teardown")) {
    urEventRelease(copy(queue_with(NULL)));
    urAdapterRelease(adapter);
  }
  fflush(stdout);
}
