#include <hocket/sync/detail/served_waits.hpp>

namespace hocket::inline HOCKET_ABI::detail {

void served_waits::add(waiter* first) noexcept {
  (first_ ? permit_request::of(*last_).next : first_) = first;
  last_ = first;
  while (waiter* const next = permit_request::of(*last_).next) last_ = next;
}

void served_waits::grant() noexcept {
  while (waiter* const served = first_) {
    first_ = permit_request::of(*served).next;
    served->grant_or_pass_on();
  }
}

}  // namespace hocket::inline HOCKET_ABI::detail
