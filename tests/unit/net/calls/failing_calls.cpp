#include "unit/net/calls/failing_calls.hpp"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hocket_test {

namespace {
std::atomic<called> failing{called::count};
std::atomic<int> turn{0}, made{0}, wrong{0};
}  // namespace

void fail_call(called which, int nth, int error) noexcept {
  failing = called::count;
  turn = nth;
  wrong = error;
  made = 0;
  failing = which;
}
int calls_made() noexcept { return made; }

bool is_to_fail(called one) noexcept {
  if (failing != one || ++made != turn) return false;
  errno = wrong;
  return true;
}

// hocket ends a program whose eventfd it cannot use.
static bool is_eventfd(int number) noexcept {
  std::array<char, 64> path{}, target{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", number);
  const int kept = errno;
  const auto size = ::readlink(path.data(), target.data(), target.size() - 1);
  errno = kept;
  return size > 0 && std::string_view(target.data()).find("eventfd") != std::string_view::npos;
}

}  // namespace hocket_test

using hocket_test::called;
using hocket_test::is_to_fail;

// NOLINTBEGIN: the names are the linker's
extern "C" {

#define HOCKET_WRAP(type, name, parameters, arguments) \
  type __real_##name parameters;                       \
  type __wrap_##name parameters {                      \
    if (is_to_fail(called::name)) return -1;           \
    return __real_##name arguments;                    \
  }
HOCKET_WRAP(int, accept4, (int fd, sockaddr* a, socklen_t* n, int f), (fd, a, n, f))
HOCKET_WRAP(int, bind, (int fd, const sockaddr* a, socklen_t n), (fd, a, n))
HOCKET_WRAP(int, connect, (int fd, const sockaddr* a, socklen_t n), (fd, a, n))
HOCKET_WRAP(int, epoll_create1, (int f), (f))
HOCKET_WRAP(int, epoll_ctl, (int e, int how, int fd, epoll_event* event), (e, how, fd, event))
HOCKET_WRAP(int, epoll_wait, (int e, epoll_event* to, int most, int time), (e, to, most, time))
HOCKET_WRAP(int, eventfd, (unsigned first, int f), (first, f))
HOCKET_WRAP(int, getsockname, (int fd, sockaddr* a, socklen_t* n), (fd, a, n))
HOCKET_WRAP(int, getsockopt, (int fd, int l, int o, void* v, socklen_t* n), (fd, l, o, v, n))
HOCKET_WRAP(int, listen, (int fd, int n), (fd, n))
HOCKET_WRAP(int, poll, (pollfd * all, nfds_t n, int time), (all, n, time))
HOCKET_WRAP(ssize_t, readv, (int fd, const iovec* all, int n), (fd, all, n))
HOCKET_WRAP(ssize_t, recv, (int fd, void* to, size_t n, int f), (fd, to, n, f))
HOCKET_WRAP(int, recvmmsg, (int fd, mmsghdr* all, unsigned n, int f, timespec* t), (fd, all, n, f, t))
HOCKET_WRAP(ssize_t, recvmsg, (int fd, msghdr* m, int f), (fd, m, f))
HOCKET_WRAP(ssize_t, send, (int fd, const void* from, size_t n, int f), (fd, from, n, f))
HOCKET_WRAP(int, sendmmsg, (int fd, mmsghdr* all, unsigned n, int f), (fd, all, n, f))
HOCKET_WRAP(ssize_t, sendmsg, (int fd, const msghdr* m, int f), (fd, m, f))
HOCKET_WRAP(int, setsockopt, (int fd, int l, int o, const void* v, socklen_t n), (fd, l, o, v, n))
HOCKET_WRAP(int, shutdown, (int fd, int how), (fd, how))
HOCKET_WRAP(int, socket, (int d, int t, int p), (d, t, p))
HOCKET_WRAP(ssize_t, writev, (int fd, const iovec* all, int n), (fd, all, n))
#undef HOCKET_WRAP

ssize_t __real_sendfile64(int to, int from, off64_t* at, size_t n);
ssize_t __wrap_sendfile64(int to, int from, off64_t* at, size_t n) {
  if (is_to_fail(called::sendfile)) return -1;
  return __real_sendfile64(to, from, at, n);
}
ssize_t __real_read(int fd, void* to, size_t n);
ssize_t __wrap_read(int fd, void* to, size_t n) {
  if (!hocket_test::is_eventfd(fd) && is_to_fail(called::read)) return -1;
  return __real_read(fd, to, n);
}
ssize_t __real_write(int fd, const void* from, size_t n);
ssize_t __wrap_write(int fd, const void* from, size_t n) {
  if (!hocket_test::is_eventfd(fd) && is_to_fail(called::write)) return -1;
  return __real_write(fd, from, n);
}
int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...) {
  va_list rest;
  va_start(rest, what);
  const long argument = va_arg(rest, long);
  va_end(rest);
  if (is_to_fail(called::fcntl)) return -1;
  return __real_fcntl(fd, what, argument);
}
// What hocket calls without the C library.
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  std::array<long, 6> with{};
  for (long& one : with) one = va_arg(rest, long);
  va_end(rest);
  const called one = number == SYS_recvfrom      ? called::recv
                     : number == SYS_sendto      ? called::send
                     : number == SYS_connect     ? called::connect
                     : number == SYS_ppoll       ? called::poll
                     : number == SYS_epoll_pwait ? called::epoll_wait
                     : number == 441             ? called::epoll_wait
                                                 : called::count;
  if (one != called::count && is_to_fail(one)) return -1;
  return __real_syscall(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

}  // extern "C"
// NOLINTEND
