// A wait for several numbers that are not adopted (poll_fds.hpp). Who watches them: src/io/fd_watch.hpp.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/primitive.hpp>
#include <cstddef>
#include <poll.h>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class fd_watch;
struct poll_operation;

// A wait, in the list of one of its fds.
struct polled_fd {
  int fd;  // all_waits: in the list of all
  poll_operation* operation;
  primitive::waiter* entry;
  polled_fd* next;
  polled_fd* previous;
};

inline constexpr int all_waits = -1;

// It stays in its place while it waits: its fds are listed, and point to it.
struct poll_operation {
  using value_type = std::size_t;
  static constexpr std::uint8_t price = 16;
  static constexpr bool keeps_result = true;

  explicit poll_operation(std::span<pollfd> all) noexcept : fds(all.data()), count(all.size()) {}
  // Looks at all of them. True: something is ready, or it fails.
  bool try_now() noexcept { return test(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept;
  result<std::size_t> take() noexcept;
  void resumed() noexcept;

  bool test() noexcept;
  // After the system has reported `events`.
  bool test(short events) noexcept {
    if (!untested) return test();
    fds->revents = static_cast<short>(events & (fds->events | POLLERR | POLLHUP));
    return fds->revents != 0;
  }
  void fail(primitive::waiter& entry, int number) noexcept;

  pollfd* fds;
  std::size_t count;
  std::size_t ready = 0;
  std::size_t error = 0;
  std::size_t untested = 0;     // not 0: an event ends the wait without a poll(2)
  polled_fd* listed = nullptr;  // one for each, and one more, from begin() to resumed()
  fd_watch* at = nullptr;       // guarded by its mutex: not null while they are listed
};

// A wait for one fd, by a coroutine that has just tried its call. It returns the events. They may be stale by then,
// so the coroutine tries again. Cost: one epoll_ctl(2), no poll(2).
struct readiness_operation : poll_operation {
  using value_type = short;

  readiness_operation(int fd, short events) noexcept : poll_operation({}), own{fd, events, 0} { untested = 1; }
  static constexpr bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept;
  result<short> take() noexcept;

  pollfd own;
};

// Any thread. Ends the waits for that number as an event does: the waiters poll, or try, again.
void wake_polling(int fd) noexcept;

}}}  // namespace hocket::detail
