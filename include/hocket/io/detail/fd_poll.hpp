// A wait for several fds that are not adopted (poll_fds.hpp). src/io/fd_watch.hpp watches them.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/primitive.hpp>
#include <cstddef>
#include <poll.h>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class fd_watch;
struct poll_operation;

// The node of a wait in the list of one of its fds.
struct polled_fd {
  int fd;  // all_waits: in the list of all waits
  poll_operation* operation;
  primitive::waiter* entry;
  polled_fd* next;
  polled_fd* previous;
};

inline constexpr int all_waits = -1;

// Does not move while it waits: its nodes point to it.
struct poll_operation {
  using value_type = std::size_t;
  static constexpr std::uint8_t price = 16;
  static constexpr bool keeps_result = true;

  explicit poll_operation(std::span<pollfd> polled) noexcept : fds(polled.data()), count(polled.size()) {}
  // Polls all fds. True: an fd is ready, or the poll fails.
  bool try_now() noexcept { return poll(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept;
  result<std::size_t> take() noexcept;
  void resumed() noexcept;

  bool poll() noexcept;
  // After an event of the system: whether the wait ends.
  bool accept_events(short events) noexcept {
    if (!trusts_events) return poll();
    fds->revents = static_cast<short>(events & (fds->events | POLLERR | POLLHUP));
    return fds->revents != 0;
  }
  void fail(primitive::waiter& entry, int error_number) noexcept;

  pollfd* fds;
  std::size_t count;
  std::size_t ready = 0;
  std::size_t error = 0;
  std::size_t trusts_events = 0;  // not 0: an event ends the wait without a poll(2)
  polled_fd* nodes = nullptr;     // from begin() to resumed(): a node for each fd, and one for the list of all waits
  fd_watch* watch = nullptr;      // guarded by the watch's mutex: not null while the nodes are linked
};

// A wait for one fd, after the coroutine has tried its call. It returns the reported events. They may be stale, so the
// coroutine tries its call again. Cost: one epoll_ctl(2), no poll(2).
struct readiness_operation : poll_operation {
  using value_type = short;

  readiness_operation(int fd, short events) noexcept : poll_operation({}), own{fd, events, 0} { trusts_events = 1; }
  static constexpr bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept;
  result<short> take() noexcept;

  pollfd own;
};

// Any thread. Ends the waits for this fd like an event: the waiters poll, or try their call, again.
void wake_polling(int fd) noexcept;

}}}  // namespace hocket::detail
