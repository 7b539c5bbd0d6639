// An auto-reset event: each set() lets one waiter through.
//
//   auto_reset_event work;
//   co_await work.wait();                      // consumes the event, or waits for the next set()
//   work.set();                                // any thread: wakes the first waiter, or is kept for the next wait
//
// Guarantees.
//   - set() wakes the waiter that arrived first. If there is no waiter, it lets exactly one later wait through, however
//     many set() calls happen meanwhile.
//   - Everything before a set() is visible to the next waiter that the event lets through, even if the event was
//     already set. So "make work, set" and "wait, take work until none is left" lose nothing.
//   - set() neither suspends nor runs foreign code.
//
// Cancellation. If a coroutine is let through and then killed before it runs, it still runs until its next wait.
//
// Cost. Without waiters, set() is one atomic read-modify-write.
//
// Lifetime. The coroutine that was let through may destroy the event if there is no other waiter and no later set().
// Destroying an event that has a waiter is fatal at check level `debug`.
//
// For a condition that stays true use event. To count set() calls use a semaphore.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/baton.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_auto_reset_event final : private detail::baton<Strength> {
  using base = detail::baton<Strength>;
  class waiting;

 public:
  explicit basic_auto_reset_event(bool initially_set = false) noexcept
      : base(initially_set ? base::free : base::held) {}
  ~basic_auto_reset_event() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "an auto-reset event was destroyed while it has a waiter",
                      "let it outlive the waits: set it for each, or cancel the waiters, first");
  }

  // Any thread. Wakes the first waiter, or keeps the event for the next wait.
  void set() noexcept { this->put(); }

  // Consumes the event if it is set. Never suspends.
  [[nodiscard]] bool try_wait() noexcept { return this->try_take(); }

  // Waits for the event and consumes it: result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site site = this_call_site()) noexcept {
    return primitive::operation<waiting>(std::in_place, site, *this);
  }

 private:
  const char* what() const noexcept override { return "an auto-reset event"; }
};

template <class Strength>
class basic_auto_reset_event<Strength>::waiting {
 public:
  using value_type = void;
  explicit waiting(basic_auto_reset_event& source) noexcept : event_(&source) {}
  bool try_now() noexcept { return event_->test_and_take(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { event_->begin(wait, entry); }
  result<void> take() noexcept { return {}; }

 private:
  basic_auto_reset_event* event_;
};

extern template class basic_auto_reset_event<strength::shared>;
extern template class basic_auto_reset_event<strength::unsync>;

using auto_reset_event = basic_auto_reset_event<strength::shared>;
namespace unsync {
using auto_reset_event = basic_auto_reset_event<strength::unsync>;
}

}}  // namespace hocket
