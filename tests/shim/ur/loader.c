/* A program without SYCL: it calls the loader of a release itself, on the first device it finds. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ur_api.h>

#define MUST(call)                                                              \
  do {                                                                          \
    ur_result_t result = call;                                                  \
    if (result) return fprintf(stderr, "could not be created: " #call ": %d\n", result), 1; \
  } while (0)

int main(void) {
  ur_adapter_handle_t adapter;
  ur_platform_handle_t platform;
  ur_device_handle_t device;
  ur_context_handle_t context;
  ur_queue_handle_t queue;
  ur_event_handle_t filled, copied;
  char *from, *to, pattern = 7;
  MUST(urLoaderInit(0, NULL));
  MUST(urAdapterGet(1, &adapter, NULL));
  MUST(urPlatformGet(adapter, 1, &platform, NULL));
  MUST(urDeviceGet(platform, UR_DEVICE_TYPE_ALL, 1, &device, NULL));
  MUST(urContextCreate(1, &device, NULL, &context));
  MUST(urQueueCreate(context, device, NULL, &queue));
  MUST(urUSMSharedAlloc(context, device, NULL, NULL, 4096, (void **)&from));
  MUST(urUSMSharedAlloc(context, device, NULL, NULL, 4096, (void **)&to));
  MUST(urEnqueueUSMFill(queue, from, 1, &pattern, 4096, 0, NULL, &filled));
  MUST(urEnqueueUSMMemcpy(queue, false, to, from, 4096, 1, &filled, &copied));
  MUST(urEventRelease(filled));
  MUST(urEnqueueUSMMemcpy(queue, true, to, from, 100, 1, &copied, NULL));
  MUST(urEventRelease(copied));
  MUST(urQueueFinish(queue));
  printf("%d %d\n", to[0], to[4095]);
  MUST(urUSMFree(context, from));
  MUST(urUSMFree(context, to));
  MUST(urQueueRelease(queue));
  MUST(urContextRelease(context));
  MUST(urAdapterRelease(adapter));
  MUST(urLoaderTearDown());
  return 0;
}
