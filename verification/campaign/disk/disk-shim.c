// Preloaded (LD_PRELOAD) into a server by the disk and power campaigns. For files below SHIM_FOLDER it can
// - fail calls: SHIM_FAIL = "<sync|write|truncate>:<EIO|ENOSPC|SHORT>:<nth>:<how many in a row, 0 = all>:<end of the file's name>",
//   counted from 1; each failed call adds a line to SHIM_HITS;
// - record calls with their data to SHIM_LOG, in the order in which they reached the kernel: see recording.ts for the format.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OPENED = 1, WRITTEN, TRUNCATED, SYNC_BEGAN, SYNCED, SYNC_FAILED, RENAMED, UNLINKED, MADE_FOLDER, LINKED };
struct record { uint64_t ns, inode, offset; uint32_t kind, length; };
static struct { uint64_t inode; char name[64]; } files[65536];
static const char *folder, *fail_name;
static int log_fd = -1, hits_fd = -1, fail_errno;
static long fail_nth, fail_count, seen;
static char fail_kind[16], fail_error[16];
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
#define REAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static ssize_t (*real_write)(int, const void *, size_t);
__attribute__((constructor)) static void begin(void) {
  real_write = REAL(write);
  const char *log = getenv("SHIM_LOG"), *fail = getenv("SHIM_FAIL"), *hits = getenv("SHIM_HITS");
  static char name[64];
  if (log) log_fd = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (hits) hits_fd = REAL(open)(hits, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fail && sscanf(fail, "%15[^:]:%15[^:]:%ld:%ld:%63s", fail_kind, fail_error, &fail_nth, &fail_count, name) == 5) fail_name = name;
  fail_errno = strcmp(fail_error, "ENOSPC") ? EIO : ENOSPC;
  folder = getenv("SHIM_FOLDER");
}
static int is_ours(const char *path) { return folder && path && !strncmp(path, folder, strlen(folder)); }
// Not every way to close a file comes by here, so a number may stand for a socket by now.
static uint64_t inode_of(int fd) {
  if (fd < 0 || fd >= 65536 || !files[fd].inode) return 0;
  struct stat about;
  int saved = errno;
  if (fstat(fd, &about) || about.st_ino != files[fd].inode || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))) files[fd].inode = 0;
  errno = saved;
  return files[fd].inode;
}
static void record(uint32_t kind, uint64_t inode, uint64_t offset, const void *data, uint32_t length) {
  if (log_fd < 0) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  struct record head = { now.tv_sec * 1000000000ull + now.tv_nsec, inode, offset, kind, length };
  struct iovec parts[2] = { { &head, sizeof head }, { (void *)data, length } };
  if (REAL(writev)(log_fd, parts, 2) != (ssize_t)(sizeof head + length)) abort();
}
// Whether this call is one that fails: errno is set then.
static int fails(const char *kind, int fd) {
  if (!fail_name || strcmp(kind, fail_kind)) return 0;
  size_t end = strlen(fail_name), all = strlen(files[fd].name);
  if (all < end || strcmp(files[fd].name + all - end, fail_name)) return 0;
  seen++;
  if (seen < fail_nth || (fail_count && seen >= fail_nth + fail_count)) return 0;
  if (hits_fd >= 0) dprintf(hits_fd, "%s %s %s %ld\n", kind, fail_error, files[fd].name, seen);
  errno = fail_errno;
  return 1;
}
static int opened(int fd, const char *path, int is_new, int flags) {
  struct stat about;
  if (fd < 0 || fd >= 65536 || fstat(fd, &about)) return fd;
  files[fd].inode = about.st_ino;
  size_t length = strlen(path);
  snprintf(files[fd].name, sizeof files[fd].name, "%s", length < 64 ? path : path + length - 63);
  record(OPENED, about.st_ino, is_new, path, length);
  if (flags & O_TRUNC) record(TRUNCATED, about.st_ino, 0, "", 0);
  return fd;
}
static int open_any(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  if (!is_ours(path)) return real(path, flags, mode);
  pthread_mutex_lock(&order);
  int is_new = (flags & O_CREAT) && access(path, F_OK);
  int fd = opened(real(path, flags, mode), path, is_new, flags);
  int saved = errno;
  pthread_mutex_unlock(&order);
  errno = saved;
  return fd;
}
#define MODE(flags) mode_t mode = 0; if ((flags) & O_CREAT) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
int open(const char *path, int flags, ...) { MODE(flags) return open_any(REAL(open), path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_any(REAL(open64), path, flags, mode); }
int close(int fd) { if (fd >= 0 && fd < 65536) files[fd].inode = 0; return REAL(close)(fd); }

static ssize_t write_any(int fd, const void *data, size_t length, off_t at, ssize_t (*go)(int, const void *, size_t, off_t)) {
  pthread_mutex_lock(&order);
  ssize_t done = -1;
  if (fails("write", fd)) {
    if (!strcmp(fail_error, "SHORT")) length = length > 1 ? length / 2 : length; else goto out;
  }
  record(WRITTEN, files[fd].inode, at, data, length);
  done = go(fd, data, length, at);
out:;
  int saved = errno;
  pthread_mutex_unlock(&order);
  errno = saved;
  return done;
}
static ssize_t go_pwrite(int fd, const void *data, size_t length, off_t at) { return REAL(pwrite64)(fd, data, length, at); }
static ssize_t go_write(int fd, const void *data, size_t length, off_t at) { (void)at; return real_write(fd, data, length); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) {
  return inode_of(fd) ? write_any(fd, data, length, at, go_pwrite) : go_pwrite(fd, data, length, at);
}
ssize_t write(int fd, const void *data, size_t length) {
  return inode_of(fd) ? write_any(fd, data, length, lseek(fd, 0, SEEK_CUR), go_write) : real_write(fd, data, length);
}
// Several pieces at once are nothing that the data folder is written with; one that came up would be missing from the recording.
ssize_t writev(int fd, const struct iovec *parts, int count) { if (inode_of(fd)) abort(); return REAL(writev)(fd, parts, count); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { if (inode_of(fd)) abort(); return REAL(pwritev)(fd, parts, count, at); }

static int sync_any(int fd, int (*real)(int)) {
  if (!inode_of(fd)) return real(fd);
  static uint32_t count;
  pthread_mutex_lock(&order);
  int is_failing = fails("sync", fd), saved = errno;
  uint64_t id = (uint64_t)getpid() << 24 | ++count;
  record(is_failing ? SYNC_FAILED : SYNC_BEGAN, files[fd].inode, id, "", 0);
  pthread_mutex_unlock(&order);
  errno = saved;
  if (is_failing) return -1;
  int result = real(fd);
  if (result == 0) record(SYNCED, inode_of(fd), id, "", 0);
  return result;
}
int fsync(int fd) { return sync_any(fd, REAL(fsync)); }
int fdatasync(int fd) { return sync_any(fd, REAL(fdatasync)); }
int ftruncate64(int fd, off_t length) {
  if (!inode_of(fd)) return REAL(ftruncate64)(fd, length);
  if (fails("truncate", fd)) return -1;
  record(TRUNCATED, files[fd].inode, length, "", 0);
  return REAL(ftruncate64)(fd, length);
}
// What changes a folder: recorded once it has happened. Two paths stand behind each other, with a zero between.
static int named(uint32_t kind, int result, const char *from, const char *to) {
  char both[8192];
  int length = snprintf(both, sizeof both, "%s%c%s", from, 0, to ? to : "");
  if (result == 0 && is_ours(from)) record(kind, 0, 0, both, to ? length : (int)strlen(from));
  return result;
}
int rename(const char *from, const char *to) { return named(RENAMED, REAL(rename)(from, to), from, to); }
int link(const char *from, const char *to) { return named(LINKED, REAL(link)(from, to), from, to); }
int unlink(const char *path) { return named(UNLINKED, REAL(unlink)(path), path, NULL); }
int mkdir(const char *path, mode_t mode) { return named(MADE_FOLDER, REAL(mkdir)(path, mode), path, NULL); }
