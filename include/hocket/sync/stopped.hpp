// stopped: waits until a stop is requested of a stop_source.
//
//   stop_source quit;                                            // of a connection, a subsystem, the program
//   auto got = co_await select(jobs.receive(), stopped(quit));   // index 1: nobody wants the jobs any more
//   quit.request();                                              // any thread
//
// For a stop that is not the coroutine's own: its own ends every wait of the coroutine (core/context.hpp) and need not
// be waited for. A std::stop_token comes in by a stop_bridge (core/std_stop.hpp).
//
// Guarantees. It goes on at once if a stop was requested before, and stays so: a stop is never taken back. All who wait
// are let through by one request, be it a cancellation or a kill, of the source itself or of one above it. What was
// done before the request is visible to them. An operation like any other: it can be cancelled, timed and selected. Any
// thread; constant time, but for the source's mutex where several wait at it. The source outlives the wait, that is
// until the coroutine that waits goes on (fatal in its destructor, if somebody still waits).
//
// How. The operation has room for a `stop_watch`, which is both the node that the source fires and what the wait is
// registered with. It is made when the wait begins:
//
//   a stop is requested           the source pops the node and fires it, which grants the waiter
//   the wait is ended by others   detach() takes the node back; where that fails, it was popped, and its fire() drops
//                                 the hold that keeps its memory
//   it was requested meanwhile    attach() says so, and nobody else has the node: the waiter is granted here
#pragma once
#include <hocket/base/detail/waited.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/stop.hpp>
#include <new>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

class stop_watch final : public wait_source, private stop_node {
 public:
  explicit stop_watch(stop_source& of) noexcept : source_(of) {}

  // Registrar only, once.
  void begin(suspension& wait, waiter& entry) noexcept;

 private:
  static void notice(stop_node& self, stop_level level) noexcept;
  const char* what() const noexcept override { return "a stop"; }
  [[nodiscard]] bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  stop_source& source_;
  waiter* entry_ = nullptr;
};

class waiting_for_stop {
 public:
  using value_type = void;
  static constexpr bool may_be_ignored = true;
  explicit waiting_for_stop(stop_source& of) noexcept : source_(&of) {}
  bool try_now() noexcept { return source_->requested() != stop_level::none; }
  void begin(suspension& wait, waiter& entry) noexcept {
    ::new (static_cast<void*>(room_)) stop_watch(*source_);
    std::launder(reinterpret_cast<stop_watch*>(room_))->begin(wait, entry);
  }
  result<void> take() noexcept { return {}; }

 private:
  stop_source* source_;
  // Zeros: what is awaited on a stack that moves is searched for addresses of that stack (fiber/await.hpp).
  alignas(stop_watch) unsigned char room_[sizeof(stop_watch)] = {};
};

}  // namespace detail

[[nodiscard]] inline primitive::operation<detail::waiting_for_stop> stopped(stop_source& of,
                                                                            call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::waiting_for_stop>(std::in_place, at, of);
}

}}  // namespace hocket
