// flock, lockf, fcntl(F_SETLKW) and fcntl(F_OFD_SETLKW): tried without blocking, and again after 1 ms, 2 ms ... 50 ms.
//
// Rejected: the pool. If all its threads waited for a lock, then the program would hang, because the holder's fsync()
// would find no thread. Cost: the system sees no waiter, so it detects no deadlock (EDEADLK) and has no order.
//
// fcntl(F_DUPFD) copies the mark of a socket (marked_sockets.hpp).
#include "caller.hpp"
#include "next.hpp"
#include "times.hpp"

#include <cstdarg>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

// Only fcntl(2) and lockf(3) fail with EACCES.
bool is_lock_conflict(int conflict_error) noexcept {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == conflict_error;
}

template <class Attempt>
int until_locked(int conflict_error, Attempt attempt) noexcept {
  if (!may_begin()) return -1;
  for (growing_pause pause;;) {
    const int result = attempt();
    if (result == 0 || !is_lock_conflict(conflict_error)) return result;
    if (wait_until(pause.end()) != wait_result::ready) return -1;
  }
}

// Not noexcept: on a plain thread, pthread_cancel() may unwind here.
int fcntl_somehow(int fd, int command, void* argument) {
  if ((command == F_SETLKW || command == F_OFD_SETLKW) && is_hooked()) {
    const int once = command == F_SETLKW ? F_SETLK : F_OFD_SETLK;
    return until_locked(EACCES, [&] { return raw::fcntl(fd, once, argument); });
  }
  const int result = find_next(next.fcntl, "fcntl64")(fd, command, argument);
  if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) copy_mark(fd, result);
  return result;
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int flock(int fd, int operation) noexcept {
  if (!hook::is_hooked() || (operation & (LOCK_NB | LOCK_UN)) != 0) [[likely]]
    return hook::next.flock(fd, operation);
  return hook::until_locked(EAGAIN, [=] { return hook::raw::flock(fd, operation | LOCK_NB); });
}
int lockf64(int fd, int command, off64_t size) {
  const auto real = hook::find_next(hook::next.lockf, "lockf64");
  if (!hook::is_hooked() || command != F_LOCK) [[likely]]
    return real(fd, command, size);
  return hook::until_locked(EACCES, [=] { return real(fd, F_TLOCK, size); });
}
int lockf(int fd, int command, off_t size) { return lockf64(fd, command, size); }

// Each command has at most one argument, of one word.
int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return hook::fcntl_somehow(fd, command, argument);
}
int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return hook::fcntl_somehow(fd, command, argument);
}

}  // extern "C"
