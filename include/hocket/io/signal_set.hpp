// Signals of the process, for coroutines that wait for them.
//
//   signal_set asked{SIGTERM, SIGHUP};
//   switch (co_await or_return(asked.next())) {
//     case SIGHUP: reload(); break;
//     default: stop.request();
//   }
//
// A set hears its signals from its construction on, also between two waits. A signal that comes several times before it
// is taken is told once, as by the system. Several sets of one signal each hear it. While any set hears a signal, its
// default action does not happen, and a handler that was installed before is still called. At the end of the last set
// the former action is back. No thread has to block the signal.
//
// Thread safety. next() may be awaited by several coroutines at a time, on any thread; each signal is told to one.
// Cancellation and deadlines as of every wait; a signal is not lost by them. SIGKILL and SIGSTOP cannot be heard.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <initializer_list>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

struct signal_ear;

// Takes one of the signals that have come.
struct signal_operation : pointing_operation<signal_operation> {
  using value_type = int;
  signal_operation(open_descriptor& of, signal_ear* by) noexcept
      : pointing_operation(of.in, call_kind::read, nullptr, sizeof(count)), ear(by) {}
  bool point() noexcept {
    data = &count;
    return true;
  }
  result<int> take() noexcept;
  void resumed() noexcept;

  signal_ear* ear;
  std::uint64_t count = 0;
};

}  // namespace detail

// Hears signals of the process.
class signal_set {
 public:
  // Throws std::system_error: invalid_argument for what is no signal or cannot be heard; what eventfd(2) says.
  // std::bad_alloc.
  signal_set(std::initializer_list<int> signals);
  signal_set(const signal_set&) = delete;
  signal_set& operator=(const signal_set&) = delete;
  ~signal_set();

  // The next signal that has come, or comes; of several the one with the lowest number.
  auto next(call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::signal_operation>(std::in_place, at, bell_.record(), ear_);
  }

 private:
  // Readable as often as a signal has come.
  struct bell : descriptor {
    explicit bell(descriptor&& of) noexcept : descriptor(std::move(of)) {}
    detail::open_descriptor& record() const noexcept { return at(); }
  };

  detail::signal_ear* const ear_;
  bell bell_;
};

}}  // namespace hocket
