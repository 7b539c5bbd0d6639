// descriptor_parker: a parker that wakes a foreign event loop by a readable descriptor. poll_timeout(): a timeout for
// epoll_wait. Both serve a loop that is the guest of another event loop (runtime/loop.hpp, with an example).
#pragma once
#include <hocket/core/parker.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

// A parker that sleeps on an epoll descriptor, by the machine's monotonic clock. It serves one loop, and outlives it.
// The epoll set has an eventfd, for wakes, and the descriptor of the loop's driver as soon as the loop waits for I/O.
//
// An inbox wakes at most once for each announced sleep, so no thread writes to the eventfd while the loop is awake.
// Once written, the descriptor stays readable until the loop's next end_sleep(), poll() or run, which reads the
// eventfd. So a wake is not lost if the host watches by level (poll, select, epoll), and each wake is an edge of its
// own if it watches by edge (EPOLLET). The host's wait may end for any cause: the loop does not depend on the cause.
//
// Do not read, write or close the descriptor. It is closed on exec. In a child by fork() it wakes nobody and watches
// nothing, and to sleep in it is fatal, since the parent sleeps there.
class descriptor_parker final : public parker {
 public:
  descriptor_parker();  // throws std::system_error if the system creates no epoll descriptor or no eventfd
  descriptor_parker(const descriptor_parker&) = delete;
  descriptor_parker& operator=(const descriptor_parker&) = delete;
  ~descriptor_parker();

  // The descriptor that the host watches for reading, on the loop's thread or on a thread that then calls the loop.
  // Constant.
  int descriptor() const noexcept { return epoll_; }

  [[nodiscard]] bool park(time_point until) noexcept override;
  void await_wake() noexcept override;
  void wake() noexcept override;  // preserves errno
  std::error_code watch(int descriptor) noexcept override;
  void unwatch(int descriptor) noexcept override;

 private:
  bool is_copy_in_child() const noexcept;

  const int epoll_;
  const int event_;
  const std::uint32_t forks_;  // when it was made
};

// The timeout for epoll_wait and poll, in milliseconds, with which they do not return before `until`. Rounded up; 0 if
// `until` has passed; -1 (no timeout) for time_point::max(); at most INT_MAX. A wait of more than INT_MAX ms ends too
// early, and the host's next turn begins another.
int poll_timeout(time_point until, time_point now) noexcept;

}}  // namespace hocket
