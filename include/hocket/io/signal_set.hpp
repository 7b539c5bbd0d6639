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
// destruction of the last set restores the former action. A handler of hocket interrupts no call of other code (EINTR).
//
// Masks. No thread has to block the signal. If the launcher of the program has blocked it, then every thread has it
// blocked, and the process receives nothing. So the constructor unblocks the signals of the set on its thread, where
// they remain unblocked, and threads that hocket makes later have them unblocked.
//
// Limits. No set can receive SIGKILL and SIGSTOP, nor the signals of faults: SIGSEGV, SIGBUS, SIGFPE and SIGILL.
//
// fork(). Parent and child each receive only the signals that are sent to them. In the child the set receives from the
// fork on, and plain threads may wait for it there. exec(2) restores the
// default action; process::start() keeps a signal ignored that was ignored before a set received it.
//
// Thread safety. Several coroutines may await next() at a time, on any thread; one of them gets each signal.
//
// Cancellation. As for every wait. A cancel or a deadline loses no signal.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <initializer_list>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Takes one of the received signals; `done` becomes its number.
struct signal_operation : transfer_operation {
  static constexpr bool is_one_call = true;
  using value_type = int;
  explicit signal_operation(open_descriptor& record) noexcept
      : transfer_operation(record.in, call_kind::read, nullptr, 0) {}
  bool has_it() const noexcept { return ended != 0; }
  result<int> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    return static_cast<int>(std::exchange(done, std::size_t{0}));
  }
  // Delivers the signal again if it was taken for a killed coroutine.
  void resumed() noexcept {
    if (done != 0) redeliver();
  }

 private:
  void redeliver() noexcept;
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

  // Waits for the next signal. If several signals have arrived, the lowest number is first. Errors:
  // operation_canceled; in a forked child also too_many_files_open, if the child had no fd left for the set.
  auto next(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::signal_operation>(std::in_place, site,
                                                          detail::descriptor_access::record_of(event_));
  }

 private:
  descriptor event_;
};

}}  // namespace hocket
