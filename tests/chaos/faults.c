/* Makes one operation on a file fail, for the tests of what a program does then. Preloaded (LD_PRELOAD):
 *
 *     EIGNN_FAULT_UNDER=/folder     only files below this folder count
 *     EIGNN_FAULT_AT=17             the 17th operation fails; 0 or not given: none, they are counted
 *     EIGNN_FAULT_ERRNO=28          with this errno
 *     EIGNN_FAULT_STICKY=1          and all that follow fail too, as on a disk that is full
 *     EIGNN_FAULT_COUNT=/file       where the number of operations is written at the end
 *     EIGNN_FAULT_SPACE=1000        statvfs says that so many bytes are free
 *     EIGNN_FAULT_NO_LOCKS=1        flock says that the file system has no locks
 *     EIGNN_FAULT_SIGNALS=/file     the signals that are sent to other processes are written there, a number a line
 *
 * Operations are opens, writes, flushes, closes of written streams, fsync, ftruncate, rename, unlink and the making
 * of folders. The C library's own calls inside fopen(), fwrite() and remove() cannot be replaced, so these are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long operations;

static long number(const char* name) {
  const char* text = getenv(name);
  return text ? strtol(text, NULL, 10) : 0;
}

static int is_below(const char* path) {
  const char* under = getenv("EIGNN_FAULT_UNDER");
  return under && strncmp(path, under, strlen(under)) == 0;
}

static int is_our_file(int file) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* Counts an operation; whether it must fail, with errno set. */
static int fails(int counts) {
  if (!counts) return 0;
  const long at = number("EIGNN_FAULT_AT"), now = ++operations;
  if (at == 0 || now < at || (now > at && !number("EIGNN_FAULT_STICKY"))) return 0;
  errno = (int)number("EIGNN_FAULT_ERRNO");
  return 1;
}

__attribute__((destructor)) static void tell(void) {
  const char* path = getenv("EIGNN_FAULT_COUNT");
  if (!path) return;
  int (*really_open)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  const int file = really_open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", (long)operations);
  if (file >= 0 && length > 0) {
    ssize_t (*real)(int, const void*, size_t) = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
    (void)!real(file, text, (size_t)length);
    close(file);
  }
}

#define REAL(result, name, ...)                                      \
  static result (*real)(__VA_ARGS__);                                \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, name)

ssize_t write(int file, const void* data, size_t size) {
  REAL(ssize_t, "write", int, const void*, size_t);
  return fails(is_our_file(file)) ? -1 : real(file, data, size);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec*, int);
  return fails(is_our_file(file)) ? -1 : real(file, parts, count);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  REAL(ssize_t, "pwrite", int, const void*, size_t, off_t);
  return fails(is_our_file(file)) ? -1 : real(file, data, size, at);
}

size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  REAL(size_t, "fwrite", const void*, size_t, size_t, FILE*);
  return fails(is_our_file(fileno(file))) ? 0 : real(data, size, count, file);
}

int fflush(FILE* file) {
  REAL(int, "fflush", FILE*);
  return file && fails(is_our_file(fileno(file))) ? EOF : real(file);
}

int fclose(FILE* file) {
  REAL(int, "fclose", FILE*);
  const int written = (fcntl(fileno(file), F_GETFL) & O_ACCMODE) != O_RDONLY;
  const int wrong = fails(written && is_our_file(fileno(file)));
  const int error = errno, closed = real(file);
  if (!wrong) return closed;
  errno = error;
  return EOF;
}

int fsync(int file) {
  REAL(int, "fsync", int);
  return fails(is_our_file(file)) ? -1 : real(file);
}

int rename(const char* from, const char* to) {
  REAL(int, "rename", const char*, const char*);
  char path[PATH_MAX];
  return fails(realpath(from, path) && is_below(path)) ? -1 : real(from, to);
}

int mkdir(const char* path, mode_t mode) {
  REAL(int, "mkdir", const char*, mode_t);
  return fails(is_below(path)) ? -1 : real(path, mode);
}

/* The name to, since from may be a temporary in another folder. */
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  REAL(int, "renameat", int, const char*, int, const char*);
  return fails(is_below(to)) ? -1 : real(from_folder, from, to_folder, to);
}

#define OPEN(name)                                        \
  int name(const char* path, int flags, ...) {            \
    REAL(int, #name, const char*, int, ...);              \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    const mode_t mode = va_arg(rest, mode_t);             \
    va_end(rest);                                         \
    return fails(is_below(path)) ? -1 : real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                       \
  FILE* name(const char* path, const char* mode) {        \
    REAL(FILE*, #name, const char*, const char*);         \
    return fails(is_below(path)) ? NULL : real(path, mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

int ftruncate(int file, off_t size) {
  REAL(int, "ftruncate", int, off_t);
  return fails(is_our_file(file)) ? -1 : real(file, size);
}

int unlink(const char* path) {
  REAL(int, "unlink", const char*);
  return fails(is_below(path)) ? -1 : real(path);
}

int remove(const char* path) {
  REAL(int, "remove", const char*);
  return fails(is_below(path)) ? -1 : real(path);
}

int flock(int file, int operation) {
  REAL(int, "flock", int, int);
  if (!getenv("EIGNN_FAULT_NO_LOCKS")) return real(file, operation);
  errno = ENOLCK;
  return -1;
}

int kill(pid_t process, int signal) {
  REAL(int, "kill", pid_t, int);
  const char* path = getenv("EIGNN_FAULT_SIGNALS");
  const int file = path && process != getpid() ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
  if (file >= 0) {
    dprintf(file, "%d\n", signal);
    close(file);
  }
  return real(process, signal);
}

int statvfs(const char* path, struct statvfs* space) {
  REAL(int, "statvfs", const char*, struct statvfs*);
  const int result = real(path, space);
  if (result == 0 && getenv("EIGNN_FAULT_SPACE")) {
    space->f_frsize = space->f_bsize = 1;
    space->f_bavail = space->f_bfree = (fsblkcnt_t)number("EIGNN_FAULT_SPACE");
  }
  return result;
}
