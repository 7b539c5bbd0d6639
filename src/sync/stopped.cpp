#include <hocket/sync/stopped.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void stop_watch::begin(suspension& wait, waiter& entry) noexcept {
  fire = &stop_watch::grant_waiter;
  entry_ = &entry;
  entry.enlist(wait, *this);
  if (source_.attach(*this) != stop_level::none) entry.claim_popped().post();
}

// After the grant the stop_watch may be destroyed.
void stop_watch::grant_waiter(stop_node& self, stop_level) noexcept {
  static_cast<stop_watch&>(self).entry_->claim_popped().post();
}

bool stop_watch::detach(waiter&) noexcept { return source_.detach(*this); }

}}}  // namespace hocket::detail
