// Calls that are tried without blocking, and repeated when their fd is ready.
#pragma once
#include "caller.hpp"

#include <poll.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Whether the fd is in blocking mode. One system call.
bool blocks(int fd) noexcept;

// SO_RCVTIMEO or SO_SNDTIMEO of the socket, counted from now. No system call, unless the program has ever set one.
time_point limit_of(int fd, int option) noexcept;

enum class direction : std::uint8_t { in, out };
constexpr short events_of(direction way) noexcept { return way == direction::in ? POLLIN : POLLOUT; }
constexpr int limit_option_of(direction way) noexcept { return way == direction::in ? SO_RCVTIMEO : SO_SNDTIMEO; }

// The waits of one call. They share one time limit.
//
// Hazard: if an fd stays ready while the call would block, then the fiber spins. Examples: an unread error queue, a
// datagram to a full receiver. Prevented by a timer: after a few spurious wakeups it paces the attempts.
class retry_wait {
 public:
  retry_wait(int fd, direction way) noexcept : fd_(fd), way_(way) {}

  // Called after an attempt that would block. True: try again. False: the call ends with errno. If the fiber was ended,
  // or must not wait, then a connected socket is marked, also if a part was moved. If the fd was closed meanwhile,
  // errno is EBADF.
  bool wait() noexcept;
  // Called after a part was moved: the next waits are not paced.
  void record_progress() noexcept { spurious_wakeups_ = 0; }

 private:
  const int fd_;
  const direction way_;
  wait_result wait_once() noexcept;

  bool began_ = false;
  int spurious_wakeups_ = 0;
  time_point limit_ = time_point::max();
};

template <class Attempt>
ssize_t until_done(int fd, direction way, Attempt attempt) noexcept {
  retry_wait waits(fd, way);
  for (;;) {
    const ssize_t result = attempt();
    if (result >= 0 || !would_block() || !waits.wait()) return result;
  }
}

// For a call that blocks a thread until all bytes are moved. attempt(moved) moves the bytes after the first `moved`; 0
// is the end. Returns the number of moved bytes. Returns the error only if no byte was moved.
template <class Attempt>
ssize_t until_all_is_moved(int fd, direction way, size_t size, Attempt attempt) noexcept {
  retry_wait waits(fd, way);
  size_t moved = 0;
  for (;;) {
    const ssize_t count = attempt(moved);
    if (count > 0) {
      moved += static_cast<size_t>(count);
      waits.record_progress();
    }
    if (count == 0 || (count > 0 && moved >= size)) return static_cast<ssize_t>(moved);
    if (count < 0 && (!would_block() || !waits.wait())) return moved != 0 ? static_cast<ssize_t>(moved) : -1;
    // A part was moved: the next attempt finds whether it would block.
  }
}

}}}  // namespace hocket::hook
