/* Calls a stub with arguments in every kind of place, and looks whether they arrive. */
#include <stdint.h>
#include <stdio.h>

static int counted_way = -1, counted_name = -1;

static double arrives(long a, long b, long c, long d, long e, long f, double x, long g, long h, double y) {
  return (double)(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h) + x + 10 * y;
}

void *ur_counted(unsigned way, unsigned name) {
  /* What a function may use up: the stub must not rely on it. */
  __asm__ volatile("xor %%edi, %%edi; xor %%esi, %%esi; xor %%edx, %%edx; xor %%ecx, %%ecx; xor %%r8d, %%r8d;"
                   "xor %%r9d, %%r9d; pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1" ::: "rdi", "rsi", "rdx", "rcx", "r8",
                   "r9", "xmm0", "xmm1");
  counted_way = (int)way;
  counted_name = (int)name;
  return (void *)(uintptr_t)arrives;
}

/* The same stubs serve the other entries, which are not called here. */
void *ur_first(unsigned way, unsigned name) { return ur_counted(way, name); }

double ur_stub_3_urUSMFree(long, long, long, long, long, long, double, long, long, double);

double urUSMFree(long, long, long, long, long, long, double, long, long, double);

int main(void) {
  printf("%.3f\n", urUSMFree(1, 2, 3, 4, 5, 6, 0.5, 7, 8, 0.0125));
  printf("way %d\n", counted_way);
  printf("%.3f\n", ur_stub_3_urUSMFree(1, 2, 3, 4, 5, 6, 0.5, 7, 8, 0.0125));
  printf("way %d name %d\n", counted_way, counted_name);
  return 0;
}
