#include <hocket/sync/stopped.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void stop_watch::begin(suspension& wait, waiter& entry) noexcept {
  fire = &stop_watch::notice;
  entry_ = &entry;
  entry.enlist(wait, *this);
  if (source_.attach(*this) != stop_level::none) entry.claim_popped().post();
}

// After the grant it may be gone.
void stop_watch::notice(stop_node& self, stop_level) noexcept {
  static_cast<stop_watch&>(self).entry_->claim_popped().post();
}

bool stop_watch::detach(waiter&) noexcept { return source_.detach(*this); }

}}}  // namespace hocket::detail
