// close, close_range, closefrom, dup2, dup3 end the waits for an fd that is closed, and remove its mark
// (marked_sockets.hpp); dup, dup2, dup3 copy a mark, and may replace a standard stream. setsockopt notes whether any
// socket has a time limit. getsockopt reports ECONNABORTED as the SO_ERROR of a marked socket: after a poll() with
// POLLERR a library asks for it, and would take 0 for a connect that has succeeded.
//
// A child of fork() has no waits: its copies of the fibers belong to the parent (is_of_this_process() in
// src/io/fd_watch.hpp).
#include "marked_sockets.hpp"
#include "next.hpp"
#include "socket_limits.hpp"
#include "watched_fds.hpp"

#include <hocket/base/seam/atomic.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {
namespace {

constinit primitive::atomic<bool> some_socket_has_a_limit{false};
constinit primitive::atomic<bool> inherited_were_checked{false};

bool has_limit(int fd, int option) noexcept {
  timeval limit{};
  socklen_t size = sizeof limit;
  return raw::getsockopt(fd, SOL_SOCKET, option, &limit, &size) == 0 && (limit.tv_sec != 0 || limit.tv_usec != 0);
}

[[gnu::cold]] void check_inherited() noexcept {
  constexpr int end = 1024;
  const int error = errno;
  for (int fd = 0; fd < end; ++fd)
    if (has_limit(fd, SO_RCVTIMEO) || has_limit(fd, SO_SNDTIMEO)) expect_limits();
  errno = error;
  // ORDER: relaxed, pairs with the load in sockets_have_limits().
  inherited_were_checked.store(true, std::memory_order_relaxed);
}

// If `fd` is closed, dup2() and dup3() from it fail and their target stays open.
bool is_open(int fd) noexcept { return raw::fcntl(fd, F_GETFD, nullptr) >= 0; }

bool is_limit(int level, int name) noexcept {
  return level == SOL_SOCKET &&
         (name == SO_RCVTIMEO_OLD || name == SO_SNDTIMEO_OLD || name == SO_RCVTIMEO_NEW || name == SO_SNDTIMEO_NEW);
}

// After dup2() or dup3(), see their `result`. The mark of `to` belonged to the socket that is closed now.
int replaced(int from, int to, std::uint64_t mark, int result) noexcept {
  if (result < 0 || from == to) return result;
  remove_mark(to, mark);
  copy_mark(from, to);
  if (to < standard_streams) record_standard_stream(to);
  return result;
}

void report_abort(void* value, socklen_t size) noexcept {
  const int error = ECONNABORTED;
  std::memcpy(value, &error, std::min<std::size_t>(size, sizeof error));
}

}  // namespace

bool sockets_have_limits() noexcept {
  // ORDER: relaxed, pairs with the store in check_inherited(): two threads may both check the inherited sockets.
  if (!inherited_were_checked.load(std::memory_order_relaxed)) check_inherited();
  // ORDER: relaxed, pairs with the store in expect_limits(): handing the socket to another thread orders both.
  return some_socket_has_a_limit.load(std::memory_order_relaxed);
}
void expect_limits() noexcept {
  // ORDER: relaxed, as above.
  some_socket_has_a_limit.store(true, std::memory_order_relaxed);
}

}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int close(int fd) {
  hook::forget(fd);
  const std::uint64_t mark = hook::mark_of(fd);
  const int done = hook::next.close(fd);
  hook::remove_mark(fd, mark);
  hook::retry(fd);
  return done;
}
int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (flags == 0) hook::forget(first, last);  // other flags mark, or close a copy, or are invalid
  const int done = hook::next.close_range(first, last, flags);
  if (flags == 0 && done == 0) hook::remove_marks(first, last);
  return done;
}
void closefrom(int first) noexcept {
  const unsigned from = first < 0 ? 0u : static_cast<unsigned>(first);
  close_range(from, UINT_MAX, 0);
}
int dup(int fd) noexcept {
  const int copy = hook::next.dup(fd);
  if (copy >= 0) hook::copy_mark(fd, copy);
  return copy;
}
int dup2(int from, int to) noexcept {
  if (from != to && hook::is_open(from)) hook::forget(to);
  const std::uint64_t mark = hook::mark_of(to);
  return hook::replaced(from, to, mark, hook::next.dup2(from, to));
}
int dup3(int from, int to, int flags) noexcept {
  if (from != to && (flags & ~O_CLOEXEC) == 0 && hook::is_open(from)) hook::forget(to);
  const std::uint64_t mark = hook::mark_of(to);
  return hook::replaced(from, to, mark, hook::next.dup3(from, to, flags));
}
int getsockopt(int fd, int level, int name, void* value, socklen_t* size) noexcept {
  const int done = hook::next.getsockopt(fd, level, name, value, size);
  if (done == 0 && level == SOL_SOCKET && name == SO_ERROR && hook::is_marked(fd)) hook::report_abort(value, *size);
  return done;
}
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  if (hook::is_limit(level, name)) hook::expect_limits();
  return hook::next.setsockopt(fd, level, name, value, size);
}

}  // extern "C"
