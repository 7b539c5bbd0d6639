// An event that stays set until it is reset. set() wakes all waiters.
//
//   event ready;
//   co_await ready.wait();                     // does not suspend while the event is set
//   ready.set();                               // any thread: wakes all waiters
//
// Guarantees.
//   - set() ends every wait that began before it, even if reset() follows at once.
//   - Everything before a set() is visible to the waiters that it lets through, and to a later reset(), even if the
//     event was already set. So a consumer that says "reset, look, wait" and a producer that says "make, set" lose
//     nothing.
//   - set() neither suspends nor runs foreign code.
//
// Cost. Without waiters, set() is one atomic read-modify-write.
//
// Lifetime. A waiter that was let through may destroy the event if there is no other waiter and no later set().
// Destroying an event that has a waiter is fatal at check level `debug`.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/event_core.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_event final : private detail::event_core<Strength> {
  using base = detail::event_core<Strength>;
  class waiting;

 public:
  explicit basic_event(bool initially_set = false) noexcept : base(initially_set) {}
  ~basic_event() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "an event was destroyed while it has a waiter",
                      "let it outlive the waits: set it, or cancel the waiters, first");
  }

  using base::is_set;
  using base::reset;
  using base::set;

  // Waits until the event is set: result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site site = this_call_site()) noexcept {
    return primitive::operation<waiting>(std::in_place, site, *this);
  }

 private:
  const char* what() const noexcept override { return "an event"; }
};

template <class Strength>
class basic_event<Strength>::waiting {
 public:
  using value_type = void;
  explicit waiting(basic_event& source) noexcept : event_(&source) {}
  bool try_now() noexcept { return event_->is_set(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { event_->begin(wait, entry); }
  result<void> take() noexcept { return {}; }

 private:
  basic_event* event_;
};

extern template class basic_event<strength::shared>;
extern template class basic_event<strength::unsync>;

using event = basic_event<strength::shared>;
namespace unsync {
using event = basic_event<strength::unsync>;
}

}}  // namespace hocket
