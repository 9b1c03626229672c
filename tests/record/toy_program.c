/* Makes calls of the toy recorder and ends: toy_program CALLS exit|_exit|term|kill|leave GATE RESULT
 *
 * leave: a child stays behind, waits for GATE to be there, makes as many calls again and writes RESULT.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  void (*call)(void);
  *(void **)&call = dlsym(RTLD_DEFAULT, "toyCall");
  if (!call) return 9;
  int calls = atoi(argv[1]);
  int first_call[2];
  if (!strcmp(argv[2], "leave") && (pipe(first_call) || fork() == 0)) {
    close(0), close(1), close(2); // whoever reads them waits for the program, not for this
    call();
    close(first_call[0]), close(first_call[1]);
    while (access(argv[3], F_OK)) usleep(1000);
    for (int i = 1; i < calls; i++) call();
    int fd = open(argv[4], O_WRONLY | O_CREAT, 0644);
    return write(fd, "fine", 4) == 4 ? 0 : 1;
  }
  for (int i = 0; i < calls; i++) call();
  if (!strcmp(argv[2], "leave")) {
    char nothing;
    close(first_call[1]);
    if (read(first_call[0], &nothing, 1)) return 8; // the end of the pipe: the child made its first call
  }
  if (!strcmp(argv[2], "_exit")) _exit(0);
  if (!strcmp(argv[2], "term")) raise(SIGTERM);
  if (!strcmp(argv[2], "kill")) raise(SIGKILL);
  return 0;
}
