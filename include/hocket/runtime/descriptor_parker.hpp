// What a loop needs to be the guest of another event loop (runtime/loop.hpp): a parker that wakes by making a
// descriptor readable, and a limit for epoll_wait.
#pragma once
#include <hocket/core/parker.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Sleeps on an epoll descriptor, by the machine's monotonic clock. It serves one loop, and outlives it. In the epoll
// are an eventfd, for wakes, and the descriptor of the loop's driver as soon as the loop waits for I/O.
//
// An inbox wakes at most once for each sleep that was announced, so while the loop is awake nobody writes to the
// eventfd. Once written, the descriptor stays readable until the loop's next end_sleep(), poll() or run, which reads
// the eventfd: watched by level (poll, select, epoll) a wake does not get lost, and watched by edge (EPOLLET) each
// write is an edge of its own. Whatever ends the foreign wait, to end it is all that it does: nothing hangs on why.
//
// Nobody else reads or writes it, or closes it. It is closed on exec. It must not be used on both sides of a fork().
class descriptor_parker final : public parker {
 public:
  descriptor_parker();  // throws std::system_error if there are not two descriptors left
  descriptor_parker(const descriptor_parker&) = delete;
  descriptor_parker& operator=(const descriptor_parker&) = delete;
  ~descriptor_parker();

  // To be watched for reading, by the thread of the loop or another that then calls it. The same for its whole life.
  int descriptor() const noexcept { return epoll_; }

  [[nodiscard]] bool park(time_point until) noexcept override;
  void await_wake() noexcept override;
  void wake() noexcept override;  // leaves errno as it was
  std::error_code watch(int descriptor) noexcept override;
  void unwatch(int descriptor) noexcept override;

 private:
  const int epoll_;
  const int bell_;
};

// The milliseconds that epoll_wait and poll take as a limit, so that they do not return before `until`: rounded up; 0
// if it has come; -1 (no limit) for time_point::max(). What is farther away than an int can say is cut: such a wait
// ends too soon, and is begun again.
int poll_timeout(time_point until, time_point now) noexcept;

}}  // namespace hocket
