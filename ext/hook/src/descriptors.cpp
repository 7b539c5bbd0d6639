// close, close_range, closefrom, dup2, dup3 end the waits for an fd that is closed. setsockopt notes whether any
// socket has a time limit.
//
// A child of fork() has no waits: its copies of the fibers belong to the parent (is_of_this_process() in
// src/io/fd_watch.hpp).
#include "next.hpp"
#include "socket_limits.hpp"
#include "watched_fds.hpp"

#include <hocket/base/detail/atomic.hpp>

#include <climits>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {
namespace {

constinit primitive::atomic<bool> some_socket_has_a_limit{false};

// If `fd` is closed, dup2() and dup3() from it fail and their target stays open.
bool is_open(int fd) noexcept { return raw::fcntl(fd, F_GETFD, nullptr) >= 0; }

bool is_limit(int level, int name) noexcept {
  return level == SOL_SOCKET &&
         (name == SO_RCVTIMEO_OLD || name == SO_SNDTIMEO_OLD || name == SO_RCVTIMEO_NEW || name == SO_SNDTIMEO_NEW);
}

}  // namespace

bool sockets_have_limits() noexcept {
  // ORDER: relaxed, pairs with the store in note_limit(): handing the socket to another thread orders both.
  return some_socket_has_a_limit.load(std::memory_order_relaxed);
}
void note_limit() noexcept {
  // ORDER: relaxed, as above.
  some_socket_has_a_limit.store(true, std::memory_order_relaxed);
}

}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int close(int fd) {
  hook::forget(fd);
  const int done = hook::next.close(fd);
  hook::retry(fd);
  return done;
}
int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (flags == 0) hook::forget(first, last);  // other flags mark, or close a copy, or are invalid
  return hook::next.close_range(first, last, flags);
}
void closefrom(int first) noexcept {
  const unsigned from = first < 0 ? 0u : static_cast<unsigned>(first);
  close_range(from, UINT_MAX, 0);
}
int dup2(int from, int to) noexcept {
  if (from != to && hook::is_open(from)) hook::forget(to);
  return hook::next.dup2(from, to);
}
int dup3(int from, int to, int flags) noexcept {
  if (from != to && (flags & ~O_CLOEXEC) == 0 && hook::is_open(from)) hook::forget(to);
  return hook::next.dup3(from, to, flags);
}
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  if (hook::is_limit(level, name)) hook::note_limit();
  return hook::next.setsockopt(fd, level, name, value, size);
}

}  // extern "C"
