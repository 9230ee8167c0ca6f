/*
 * Preloaded into a process under test: lets its syncs fail or wait, and its clock jump. What to do stands in a file that the
 * test writes and that is mapped here, so it can change at any moment.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct control {
  int32_t sync_error;  /* the errno that syncs fail with, or 0 */
  int32_t sync_holds;  /* syncs wait as long as this is not 0 */
  int32_t syncs_held;  /* how many have waited: written here, read by the test */
  int32_t reserved;
  int64_t clock_shift_ms;  /* added to the time of day */
};

static volatile struct control *control;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("HEADWATER_FAULTS");
  if (path == NULL) return;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) abort();
  control = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (control == MAP_FAILED) abort();
  close(fd);
}

static int fails(void) {
  if (control == NULL) return 0;
  if (control->sync_holds) __sync_fetch_and_add(&control->syncs_held, 1);
  while (control->sync_holds) usleep(1000);
  if (control->sync_error == 0) return 0;
  errno = control->sync_error;
  return 1;
}

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  return fails() ? -1 : real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  return fails() ? -1 : real(fd);
}

/* A write to a file that was opened for it is a sync, too. */
static ssize_t synced_write(const char *name, int fd, const void *bytes, size_t length, off_t at) {
  static ssize_t (*real)(int, const void *, size_t, off_t);
  if (real == NULL) real = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, name);
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0 && (flags & O_DSYNC) && fails()) return -1;
  return real(fd, bytes, length, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  return synced_write("pwrite", fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) {
  return synced_write("pwrite64", fd, bytes, length, at);
}

int msync(void *at, size_t length, int flags) {
  static int (*real)(void *, size_t, int);
  if (real == NULL) real = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "msync");
  return fails() ? -1 : real(at, length, flags);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (result != 0 || control == NULL) return result;
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return result;
  int64_t ns = now->tv_nsec + (control->clock_shift_ms % 1000) * 1000000;
  now->tv_sec += control->clock_shift_ms / 1000 + (ns < 0 ? -1 : ns / 1000000000);
  now->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec at;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &at);
  now->tv_sec = at.tv_sec;
  now->tv_usec = at.tv_nsec / 1000;
  return result;
}

time_t time(time_t *out) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (out != NULL) *out = at.tv_sec;
  return at.tv_sec;
}
