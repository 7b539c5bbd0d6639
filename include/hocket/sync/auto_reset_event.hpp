// An event that lets one waiter through each time it is set.
//
//   auto_reset_event work;
//   co_await work.wait();                      // consumes the event, or waits for the next set()
//   work.set();                                // any thread: wakes the first who waits, or is kept for the next wait
//
// Guarantees. set() wakes the waiter that came first, or, if nobody waits, lets the next wait through: exactly one,
// however often it was set meanwhile. What was done before a set() is visible to whoever the event lets through next,
// also if the event was set already: so "make work, set" and "wait, look for work until there is none" loses nothing.
// set() neither suspends nor runs foreign code, and is one atomic read-modify-write while nobody waits. A
// coroutine that was let through and killed before it runs goes on to its next wait. Who was let through may destroy
// the event if nobody else waits or will set it; destroying one for which somebody waits is fatal at check level
// `debug`.
//
// For a condition that stays true use event; to count what was set, a semaphore.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/baton.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_auto_reset_event final : private detail::baton<Strength> {
  using base = detail::baton<Strength>;
  class waiting;

 public:
  explicit basic_auto_reset_event(bool set = false) noexcept : base(set ? base::here : base::away) {}
  ~basic_auto_reset_event() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "an auto-reset event was destroyed while somebody waits for it",
                      "let it outlive the waits: set it for each, or cancel those who wait, first");
  }

  void set() noexcept { this->put(); }

  // Consumes the event if it is set. Never suspends.
  [[nodiscard]] bool try_wait() noexcept { return this->try_take(); }

  // Waits for the event and consumes it: result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site at = this_call_site()) noexcept {
    return primitive::operation<waiting>(std::in_place, at, *this);
  }

 private:
  const char* what() const noexcept override { return "an auto-reset event"; }
};

template <class Strength>
class basic_auto_reset_event<Strength>::waiting {
 public:
  using value_type = void;
  explicit waiting(basic_auto_reset_event& what) noexcept : event_(&what) {}
  bool try_now() noexcept { return event_->look_and_take(); }
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
