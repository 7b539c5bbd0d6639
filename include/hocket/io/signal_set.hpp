// signal_set: coroutines wait for signals of the process.
//
//   signal_set signals{SIGTERM, SIGHUP};
//   switch (co_await or_return(signals.next())) {
//     case SIGHUP: reload(); break;
//     default: stop.request();
//   }
//
// Guarantees. A set receives its signals from its construction on, also between two waits. If a signal arrives several
// times before it is taken, it is returned once, as by the system. If several sets have one signal, each receives it.
// While any set has a signal, its default action does not happen, and an earlier handler is still called. The
// destruction of the last set restores the former action. No thread has to block the signal.
//
// Limits. No set can receive SIGKILL and SIGSTOP.
//
// Thread safety. Several coroutines may await next() at a time, on any thread; one of them gets each signal.
//
// Cancellation. As for every wait. A cancel or a deadline loses no signal.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <initializer_list>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

struct signal_receiver;

// Takes one of the received signals.
struct signal_operation : pointing_operation<signal_operation> {
  using value_type = int;
  signal_operation(open_descriptor& record, signal_receiver* owner) noexcept
      : pointing_operation(record.in, call_kind::read, nullptr, sizeof(count)), receiver(owner) {}
  bool point() noexcept {
    data = &count;
    return true;
  }
  result<int> take() noexcept;
  void resumed() noexcept;

  signal_receiver* receiver;
  std::uint64_t count = 0;
};

}  // namespace detail

// Receives signals of the process.
class signal_set {
 public:
  // Throws std::system_error: invalid_argument for a number that is no signal, or a signal that no set can receive; the
  // errors of eventfd(2). Throws std::bad_alloc.
  signal_set(std::initializer_list<int> signals);
  signal_set(const signal_set&) = delete;
  signal_set& operator=(const signal_set&) = delete;
  ~signal_set();

  // Waits for the next signal. If several signals have arrived, the lowest number is first.
  auto next(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::signal_operation>(std::in_place, site, event_.record(), receiver_);
  }

 private:
  // An eventfd that is readable once for each received signal.
  struct event_fd : descriptor {
    explicit event_fd(descriptor&& owner) noexcept : descriptor(std::move(owner)) {}
    using descriptor::record;
  };

  detail::signal_receiver* const receiver_;
  event_fd event_;
};

}}  // namespace hocket
