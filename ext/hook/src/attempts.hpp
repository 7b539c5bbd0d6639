// Calls that are tried without blocking, and repeated when their number is ready.
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
// Hazard: if an fd stays ready while the call would block, the fiber spins. Examples: an error queue that nobody
// reads, a datagram whose receiver has no room. Prevented by a timer: after a few waits in vain it paces the attempts.
class patience {
 public:
  patience(int fd, direction way) noexcept : fd_(fd), way_(way) {}

  // After an attempt that would block. True: try again. False: the call ends with errno. If the fiber was ended, or
  // must not wait, then a connected socket is marked: also if a part was moved. If the number was closed meanwhile,
  // errno is EBADF.
  bool wait() noexcept;
  // A part was moved: the waits were not in vain.
  void note_part() noexcept { in_vain_ = 0; }

 private:
  const int fd_;
  const direction way_;
  wait_result wait_once() noexcept;

  bool began_ = false;
  int in_vain_ = 0;
  time_point limit_ = time_point::max();
};

template <class Attempt>
ssize_t until_done(int fd, direction way, Attempt attempt) noexcept {
  patience waits(fd, way);
  for (;;) {
    const ssize_t got = attempt();
    if (got >= 0 || !would_block() || !waits.wait()) return got;
  }
}

// For a call that blocks a thread until all bytes are moved. attempt(moved) moves the bytes after the first `moved`; 0
// is the end. Returns how many were moved; the error only if none.
template <class Attempt>
ssize_t until_all_is_moved(int fd, direction way, size_t size, Attempt attempt) noexcept {
  patience waits(fd, way);
  size_t moved = 0;
  for (;;) {
    const ssize_t got = attempt(moved);
    if (got > 0) {
      moved += static_cast<size_t>(got);
      waits.note_part();
    }
    if (got == 0 || (got > 0 && moved >= size)) return static_cast<ssize_t>(moved);
    if (got < 0 && (!would_block() || !waits.wait())) return moved != 0 ? static_cast<ssize_t>(moved) : -1;
    // A part was moved: the next attempt finds whether it would block.
  }
}

}}}  // namespace hocket::hook
