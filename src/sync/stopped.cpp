#include <hocket/sync/stopped.hpp>

namespace hocket::inline HOCKET_ABI::detail {

void stop_watch::begin(suspension& wait, waiter& entry) noexcept {
  fire = &stop_watch::notice;
  entry_ = &entry;
  entry.enlist(wait, *this);
  if (source_.attach(*this) != verdict::idle) entry.grant();
}

// After the grant it may be gone.
void stop_watch::notice(stop_node& self, verdict) noexcept { static_cast<stop_watch&>(self).entry_->grant(); }

bool stop_watch::detach(waiter&) noexcept { return source_.detach(*this); }

}  // namespace hocket::inline HOCKET_ABI::detail
