// Kills the program named by KILL_PROGRAM at its call number KILL_AT that changes something outside of it: before the
// call is made, or, with KILL_HALF, when half of a write is done.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long limit = -1;
static atomic_long count;

__attribute__((constructor)) static void begin(void) {
  char path[4096];
  const char *name = getenv("KILL_PROGRAM"), *at = getenv("KILL_AT");
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (!name || !at || length < 0) return;
  path[length] = 0;
  if (strcmp(path, name) == 0) limit = atol(at);
}

static int is_last(void) { return limit >= 0 && atomic_fetch_add(&count, 1) == limit; }
static void point(void) { if (is_last()) kill(getpid(), SIGKILL); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *bytes, size_t size) {
  if (is_last()) {
    if (getenv("KILL_HALF")) REAL(write)(file, bytes, size / 2);
    kill(getpid(), SIGKILL);
  }
  return REAL(write)(file, bytes, size);
}
int rename(const char *from, const char *to) { point(); return REAL(rename)(from, to); }
int unlink(const char *path) { point(); return REAL(unlink)(path); }
int rmdir(const char *path) { point(); return REAL(rmdir)(path); }
int mkdir(const char *path, mode_t mode) { point(); return REAL(mkdir)(path, mode); }
int fsync(int file) { point(); return REAL(fsync)(file); }
int ftruncate(int file, off_t size) { point(); return REAL(ftruncate)(file, size); }
int flock(int file, int operation) { point(); return ((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(file, operation); }
int close(int file) { point(); return REAL(close)(file); }
ssize_t read(int file, void *bytes, size_t size) { point(); return REAL(read)(file, bytes, size); }
int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  point();
  return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
