/* The Unified Runtime library, from the inside. DESIGN: one wrapper a call (generated), two ways in (path.c, tables.c),
 * device times (timing.c) and clock brackets (clock.c) where AKV_TIMING=on asks for them. */
#ifndef UR_H
#define UR_H

#include "../akvlog.h"
#include "names.h"

#include <stdatomic.h>

enum ur_path { UR_UNDECIDED, UR_EXPORTS, UR_TABLES, UR_NEITHER };
enum ur_timing { UR_ASIS, UR_ON, UR_OFF };

/* The functions of the runtime, by way and name. Way 0: exported symbols, found when first called. The others: what
 * stood in an adapter's table before it was patched. */
extern _Atomic(void *) ur_real[UR_WAYS][UR_NAMES];
extern _Atomic int ur_path;
extern int ur_timing;

/* Where the exported symbols lead, and stubs of way 0 that count; both by name (stubs.S). */
extern _Atomic(void *) ur_entry[UR_NAMES];
extern void *const ur_stubs[UR_NAMES];

/* The wrappers of each way (wrap.c), by release, since prototypes differ between releases, and by name. */
typedef void *const ur_wrappers[UR_NAMES];
extern ur_wrappers ur_wrappers_0[], ur_wrappers_1[], ur_wrappers_2[], ur_wrappers_3[], ur_wrappers_4[];
extern const char *const ur_releases[UR_RELEASES];

/* --- path.c --- */
int ur_decide(enum ur_path where_asked); /* the way in; decided once, and by nothing that comes later */
void *ur_first(unsigned way, unsigned name);   /* where an exported symbol leads; called by its first stub */
void *ur_counted(unsigned way, unsigned name); /* counts, and gives the function of the runtime */

/* A function of the runtime, for calls that the recorder makes itself: they are never recorded. */
void *ur_own(unsigned way, unsigned name);

/* --- facts.c --- */
void ur_comment(const char *path, char *text, size_t room); /* what compiler built a library; empty where unknown */

static inline bool ur_timing_on(void) { return __builtin_expect(ur_timing == UR_ON, 0); }

/* --- facts.c: names of kernels, notes about runtime and devices --- */
void ur_work(struct akv_call *call, uint32_t dimensions, const void *global, const void *local);
void ur_name_kernel(unsigned way, void *kernel);
void ur_note_adapter(unsigned way);
void ur_note_device(unsigned way, void *device);
bool ur_info(unsigned way, unsigned name, const void *handle, uint32_t what, void *value, size_t bytes);

/* --- timing.c --- */
struct ur_queue_properties {
  uint32_t stype;
  void *next;
  uint32_t flags;
};
void *ur_profiling(void *properties, struct ur_queue_properties *changed, unsigned *flags);
bool ur_ask(struct akv_call *call, unsigned *flags);
void ur_watch(unsigned way, const struct akv_call *call, uint64_t queue, uint64_t event, unsigned flags);
void ur_waited(void);
void ur_graph_capture(int more);
void ur_before_queue_release(unsigned way, void *queue);
void ur_before_context_release(void);
void ur_before_device_release(unsigned way, void *device);
void ur_before_adapter_release(unsigned way, void *adapter);
void ur_before_teardown(unsigned way);

/* --- clock.c --- */
bool ur_clock_device(unsigned way, void *device); /* false: it is known already */
void ur_clock_pass(uint64_t now);
void ur_clock_all(void);
void ur_clock_forget(unsigned way, const void *device); /* NULL: all of this way */

#endif
