// event_counter: wakes coroutines from outside of hocket: from a foreign thread, a signal handler, a library, another
// process. It is an eventfd(2), a counter of the system.
//
//   event_counter events = event_counter::make().value();
//   library.on_progress([&] { events.add(); });                       // on any thread
//   for (;;) {
//     std::uint64_t count = co_await or_return(events.take());        // at least 1
//     ...
//   }
//
// Cost. If all sides are coroutines or threads of this process, hocket::event, semaphore and channel cost less.
//
// Thread safety. add() and take(): any thread. One take() receives each count. A signal handler may call add(), if no
// thread closes or destroys the counter meanwhile. add() allocates nothing and preserves errno.
//
// Cancellation. As for every wait. A cancel, a deadline or a kill loses no count.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Adds to the eventfd of this generation of a descriptor. Returns an error number, or 0.
int add_to_counter(open_descriptor& record, std::uint32_t generation, std::uint64_t count) noexcept;

struct count_operation : pointing_operation<count_operation> {
  static constexpr bool is_one_call = true;
  using value_type = std::uint64_t;
  explicit count_operation(open_descriptor& record) noexcept
      : pointing_operation(record.in, call_kind::read, nullptr, sizeof(count)) {}
  bool point() noexcept {
    data = &count;
    return true;
  }
  result<std::uint64_t> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    done = 0;
    return count;
  }
  // Adds the count again if it was taken for a killed coroutine.
  void resumed() noexcept;

  std::uint64_t count = 0;
};

}  // namespace detail

// A counter that any thread adds to, and that coroutines wait for.
class event_counter : public descriptor {
 public:
  event_counter() noexcept = default;

  // Makes a counter with the count 0. Errors: too_many_files_open, too_many_files_open_in_system, not_enough_memory.
  static result<event_counter> make() noexcept;
  // Takes ownership of an eventfd, and makes it non-blocking. With EFD_SEMAPHORE each take() returns 1. Errors: as
  // descriptor::adopt(); invalid_argument for a file, a pipe, a device or a socket.
  static result<event_counter> adopt(int fd) noexcept;

  // Adds to the count, and wakes a waiting operation. Errors: invalid_argument, if `count` is the largest number;
  // resource_unavailable_try_again, if the sum would reach that number; bad_file_descriptor.
  result<void> add(std::uint64_t count = 1) noexcept;

  // Waits until the count is not 0, sets it to 0, and returns the old count.
  auto take(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::count_operation>(std::in_place, site, record());
  }

 private:
  explicit event_counter(descriptor&& owner) noexcept : descriptor(std::move(owner)) {}
};

}}  // namespace hocket
