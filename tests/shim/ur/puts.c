#include <stdio.h>

int main(void) {
  puts("text");
  return 0;
}
