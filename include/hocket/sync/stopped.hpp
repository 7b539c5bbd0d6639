// stopped: waits until a stop is requested of a stop_source.
//
//   stop_source quit;                                              // of a connection, a subsystem, the program
//   auto first = co_await select(jobs.receive(), stopped(quit));   // index 1: a stop was requested
//   quit.request();                                                // any thread
//
// Use it for the stop of another party. The coroutine's own stop ends each of its waits by itself (core/context.hpp). A
// std::stop_token enters by a stop_bridge (core/std_stop.hpp).
//
// Guarantees.
//   - If a stop was requested before, the wait does not suspend. A stop is never withdrawn.
//   - One request lets all waiters through: a cancellation or a kill, of the source itself or of a source above it.
//   - Everything before the request is visible to the waiters.
//
// Cancellation. The wait can be cancelled, timed and selected, like any operation.
//
// Thread safety. Any thread. Cost: constant time, except for the source's mutex if several waiters share the source.
//
// Lifetime. The source must outlive the wait, until the waiting coroutine resumes. Destroying a source that has a
// waiter is fatal.
//
// Implementation. The operation has storage for a `stop_watch`, which is the node that the source fires, and the
// wait_source with which the wait is registered. It is constructed when the wait begins:
//
//   a stop is requested       the source pops the node and fires it, which grants the waiter
//   another party ends        detach() takes the node back. If that fails, the node was popped, and its fire() drops
//   the wait                  the hold that keeps its memory
//   a stop was requested      attach() reports the stop, and no other thread has the node: begin() grants the waiter
//   before begin()
#pragma once
#include <hocket/base/seam/waited.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/primitive.hpp>
#include <new>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

class stop_watch final : public wait_source, private stop_node {
 public:
  explicit stop_watch(stop_source& source) noexcept : source_(source) {}

  // Registrar only, once.
  void begin(suspension& wait, waiter& entry) noexcept;

 private:
  static void grant_waiter(stop_node& self, stop_level level) noexcept;
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
  explicit waiting_for_stop(stop_source& source) noexcept : source_(&source) {}
  bool try_now() noexcept { return source_->requested() != stop_level::none; }
  void begin(suspension& wait, waiter& entry) noexcept {
    ::new (static_cast<void*>(storage_)) stop_watch(*source_);
    std::launder(reinterpret_cast<stop_watch*>(storage_))->begin(wait, entry);
  }
  result<void> take() noexcept { return {}; }

 private:
  stop_source* source_;
  // Zeros: an operation on a stack that moves is searched for addresses of that stack (fiber/await.hpp).
  alignas(stop_watch) unsigned char storage_[sizeof(stop_watch)] = {};
};

}  // namespace detail

// Waits until a stop of any level is requested of the source: result<void>.
[[nodiscard]] inline primitive::operation<detail::waiting_for_stop> stopped(
    stop_source& source, call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::waiting_for_stop>(std::in_place, site, source);
}

}}  // namespace hocket
