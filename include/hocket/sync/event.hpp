// An event that is set until it is reset: all who wait for it go on when it is set.
//
//   event ready;
//   co_await ready.wait();                     // goes on at once while the event is set
//   ready.set();                               // any thread: wakes everybody who waits
//
// Guarantees. set() ends every wait that had begun before it, even if the event is reset right after. What was done
// before a set() is visible to whoever it lets through, and to whoever resets the event after it, also if the event was
// set already: so a consumer that says "reset, look, wait" and a producer that says "make, set" lose nothing. set()
// neither suspends nor runs foreign code, and is one atomic read-modify-write while nobody waits. Who was let through
// may destroy the event, if nobody else waits or will set it; destroying one for which somebody waits is fatal at check
// level `debug`.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/event_core.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_event final : private detail::event_core<Strength> {
  using base = detail::event_core<Strength>;
  class waiting;

 public:
  explicit basic_event(bool from_start = false) noexcept : base(from_start) {}
  ~basic_event() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "an event was destroyed while somebody waits for it",
                      "let it outlive the waits: set it, or cancel those who wait, first");
  }

  using base::is_set;
  using base::reset;
  using base::set;

  // Waits until it is set: result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site at = this_call_site()) noexcept {
    return primitive::operation<waiting>(std::in_place, at, *this);
  }

 private:
  const char* what() const noexcept override { return "an event"; }
};

template <class Strength>
class basic_event<Strength>::waiting {
 public:
  using value_type = void;
  explicit waiting(basic_event& what) noexcept : event_(&what) {}
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
