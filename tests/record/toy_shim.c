/* A recorder with one call, `toyCall`, to be preloaded in place of a runtime's library. */
#include "akvlog.h"

static const char *const names[] = {"toyCall"};
const struct akv_producer akv_producer = {"toy", "toy 1", names, 1};

__attribute__((visibility("default"))) void toyCall(void) {
  struct akv_call call = akv_enter(0, 0);
  akv_exit(&call, 0, 0, 0);
}
