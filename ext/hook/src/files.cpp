// open, openat, creat, fsync, fdatasync, syncfs, copy_file_range: on the pool, because a disk can be slow and open() of
// a named pipe waits for its other end.
#include "files.hpp"

#include "caller.hpp"
#include "next.hpp"

#include <cstdarg>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Makes the system call itself, because ThreadSanitizer's fstat() would report a concurrent close of the fd as a race.
bool is_file(int fd) noexcept {
  struct stat status{};
  return ::syscall(SYS_fstat, fd, &status) == 0 &&
         (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) || S_ISDIR(status.st_mode));
}

namespace {

// Not noexcept: on a plain thread pthread_cancel() may unwind the call.
template <class Call>
auto on_pool_if_hooked(Call call) -> decltype(call()) {
  if (!is_hooked()) [[likely]]
    return call();
  return may_begin() ? on_pool(call) : decltype(call())(-1);
}

int open_file(int folder, const char* path, int flags, mode_t mode) {
  return on_pool_if_hooked([&] { return next.openat(folder, path, flags, mode); });
}

bool has_mode(int flags) noexcept { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

namespace {

// The argument after `flags`, if there is one.
mode_t mode_of(int flags, va_list& rest) noexcept {
  return hook::has_mode(flags) ? static_cast<mode_t>(va_arg(rest, unsigned)) : mode_t{0};
}

}  // namespace

extern "C" {

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return hook::open_file(AT_FDCWD, path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return hook::open_file(AT_FDCWD, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return hook::open_file(folder, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return hook::open_file(folder, path, flags, mode);
}
int __open_2(const char* path, int flags) { return hook::open_file(AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) { return hook::open_file(AT_FDCWD, path, flags, 0); }
int __openat_2(int folder, const char* path, int flags) { return hook::open_file(folder, path, flags, 0); }
int __openat64_2(int folder, const char* path, int flags) { return hook::open_file(folder, path, flags, 0); }
int creat(const char* path, mode_t mode) { return hook::open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) { return creat(path, mode); }

int fsync(int fd) {
  return hook::on_pool_if_hooked([=] { return hook::next.fsync(fd); });
}
int fdatasync(int fd) {
  return hook::on_pool_if_hooked([=] { return hook::next.fdatasync(fd); });
}
int syncfs(int fd) noexcept {
  return hook::on_pool_if_hooked([=] { return hook::next.syncfs(fd); });
}
ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags) {
  return hook::on_pool_if_hooked([&] { return hook::next.copy_file_range(from, from_at, to, to_at, size, flags); });
}

}  // extern "C"
