// connect, accept.
//
// connect() alone makes a socket non-blocking, because no flag makes one call non-blocking. The socket is blocking
// again before the fiber waits.
//
// accept() has no such flag either. A listener may be shared with other processes, so it is never made non-blocking.
// The fiber waits until the listener is ready, then polls and accepts. At each listener only one hooked fiber of the
// process does this at a time, so it does not accept the connection that another fiber has polled. Hazard: if another
// process or an unhooked thread accepts between the poll and the accept, then the call blocks the worker until the next
// connection. Prevented by the user: a listener that others use, too, is made non-blocking.
#include "attempts.hpp"
#include "next.hpp"
#include "times.hpp"
#include "watched_fds.hpp"

#include <hocket/base/seam/mutex.hpp>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

int error_at(int fd) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  return ::syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

int connect_at_once(int fd, const sockaddr* to, socklen_t size, long flags) noexcept {
  raw::fcntl(fd, F_SETFL, reinterpret_cast<void*>(flags | O_NONBLOCK));
  const int done = raw::connect(fd, to, size);
  const int error = errno;
  raw::fcntl(fd, F_SETFL, reinterpret_cast<void*>(flags));
  errno = error;
  return done;
}

// A connect was ended, see errno. The socket is marked, whatever its state.
int end_connect(int fd, close_count begin) noexcept {
  abandon_connect(fd, begin);
  return -1;
}

// If SO_SNDTIMEO ends the wait, connect(2) fails with EINPROGRESS. A mark by another fiber disconnects the socket,
// which reports an event then, and an error of the system.
int await_connection(int fd, time_point limit) noexcept {
  const close_count begin = last_close();
  for (pollfd pfd{fd, POLLOUT, 0}; raw::poll(&pfd, 1, 0) == 0;) {  // an event may be of an earlier file with this fd
    switch (wait_for(fd, POLLOUT, limit)) {
      case wait_result::late: return fail<int>(EINPROGRESS);
      case wait_result::ended: return end_connect(fd, begin);
      case wait_result::failed: return -1;
      case wait_result::ready: break;
    }
  }
  if (is_refused(fd)) return -1;
  const int error = error_at(fd);
  return error == 0 ? 0 : fail<int>(error);
}

// connect(2) that was made non-blocking leaves the socket connecting until the next call: without that call a second
// connect() of the program would succeed instead of EISCONN.
int finish_connect(int fd, const sockaddr* to, socklen_t size, time_point limit) noexcept {
  if (await_connection(fd, limit) != 0) return -1;
  static_cast<void>(raw::connect(fd, to, size));
  return 0;
}

// For a unix listener with a full backlog: no event reports free space.
int connect_when_there_is_room(int fd, const sockaddr* to, socklen_t size, long flags, time_point limit) noexcept {
  const close_count begin = last_close();
  for (growing_pause pause;;) {
    const int done = connect_at_once(fd, to, size, flags);
    if (done == 0 || errno != EAGAIN || now() >= limit) return done;
    const watched_fd watched(fd);
    if (wait_until(std::min(limit, pause.end())) != wait_result::ready) return end_connect(fd, begin);
    if (is_refused(fd)) return -1;
  }
}

int connect_hooked(int fd, const sockaddr* to, socklen_t size) noexcept {
  if (!may_begin()) return end_connect(fd, last_close());
  if (is_refused(fd)) return -1;
  const long flags = raw::fcntl(fd, F_GETFL, nullptr);
  if (flags < 0) return -1;
  if ((flags & O_NONBLOCK) != 0) return raw::connect(fd, to, size);
  const time_point limit = limit_of(fd, SO_SNDTIMEO);
  const int done = connect_at_once(fd, to, size, flags);
  if (done == 0) return 0;
  if (errno == EAGAIN && to->sa_family == AF_UNIX) return connect_when_there_is_room(fd, to, size, flags, limit);
  return errno == EINPROGRESS || errno == EALREADY ? finish_connect(fd, to, size, limit) : -1;
}

// Numbers with equal low bits share a mutex. No fiber waits for it: if it is locked, the fiber tries again later.
primitive::thread_mutex& acceptor_of(int fd) noexcept {
  static constinit std::array<primitive::thread_mutex, 64> all{};
  return all[static_cast<std::size_t>(fd) % all.size()];
}

int accept_if_ready(int fd, sockaddr* from, socklen_t* from_size, int flags) noexcept {
  primitive::thread_mutex& mutex = acceptor_of(fd);
  if (!mutex.try_lock()) return fail<int>(EAGAIN);
  pollfd pfd{fd, POLLIN, 0};
  const int client = raw::poll(&pfd, 1, 0) == 0 ? fail<int>(EAGAIN) : raw::accept4(fd, from, from_size, flags);
  const int error = errno;
  mutex.unlock();
  errno = error;
  return client;
}

bool is_listener(int fd) noexcept {
  int listens = 0;
  socklen_t size = sizeof listens;
  return ::syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

int accept_hooked(int fd, sockaddr* from, socklen_t* from_size, int flags) noexcept {
  if (!may_begin()) return -1;  // a listener is never marked
  if (!blocks(fd) || !is_listener(fd)) return raw::accept4(fd, from, from_size, flags);
  return static_cast<int>(
      until_done(fd, direction::in, [&]() -> ssize_t { return accept_if_ready(fd, from, from_size, flags); }));
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int connect(int fd, const sockaddr* to, socklen_t size) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.connect(fd, to, size);
  return hook::quietly([&] { return hook::connect_hooked(fd, to, size); });
}
int accept(int fd, sockaddr* from, socklen_t* from_size) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.accept(fd, from, from_size);
  return hook::quietly([&] { return hook::accept_hooked(fd, from, from_size, 0); });
}
int accept4(int fd, sockaddr* from, socklen_t* from_size, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.accept4(fd, from, from_size, flags);
  return hook::quietly([&] { return hook::accept_hooked(fd, from, from_size, flags); });
}

}  // extern "C"
