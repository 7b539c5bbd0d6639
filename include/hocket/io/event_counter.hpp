// event_counter: what wakes coroutines from outside of hocket: a foreign thread, a signal handler, a library, another
// process. It is an eventfd(2), a counter that the system keeps.
//
//   event_counter news = event_counter::make().value();
//   library.on_progress([&] { news.add(); });                       // on any thread
//   for (;;) {
//     std::uint64_t count = co_await or_return(news.take());        // at least 1
//     ...
//   }
//
// Where all sides are coroutines or threads of this process, hocket::event, semaphore and channel cost less.
//
// Thread safety. add() and take(): any thread. Each count is taken by one take(). add() may be called in a signal
// handler, if no thread closes or destroys the counter meanwhile. It allocates nothing and keeps errno.
//
// Cancellation and deadlines as of every wait; a count is not lost by them, nor by a kill.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Adds to the eventfd of this generation of a descriptor; an error number, or 0.
int add_to_counter(open_descriptor& of, std::uint32_t generation, std::uint64_t count) noexcept;

struct count_operation : pointing_operation<count_operation> {
  using value_type = std::uint64_t;
  explicit count_operation(open_descriptor& of) noexcept
      : pointing_operation(of.in, call_kind::read, nullptr, sizeof(count)) {}
  bool point() noexcept {
    data = &count;
    return true;
  }
  result<std::uint64_t> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    done = 0;
    return count;
  }
  // What was taken for a coroutine that is killed is given back.
  void resumed() noexcept;

  std::uint64_t count = 0;
};

}  // namespace detail

// A counter that any thread adds to, and that coroutines wait for.
class event_counter : public descriptor {
 public:
  event_counter() noexcept = default;

  // With the count 0. Errors: too_many_files_open, too_many_files_open_in_system, not_enough_memory.
  static result<event_counter> make() noexcept;
  // Takes the number of an eventfd over, and makes it non-blocking. With EFD_SEMAPHORE each take() gives 1. Errors: as
  // descriptor::adopt().
  static result<event_counter> adopt(int fd) noexcept;

  // Adds to the count, and wakes an operation that waits. Errors: invalid_argument for the largest number;
  // resource_unavailable_try_again if the sum would reach that number; bad_file_descriptor.
  result<void> add(std::uint64_t count = 1) noexcept;

  // Waits until the count is not 0, and sets it to 0; what it was.
  auto take(call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::count_operation>(std::in_place, at, this->at());
  }

 private:
  explicit event_counter(descriptor&& of) noexcept : descriptor(std::move(of)) {}
};

}}  // namespace hocket
