#include <hocket/core/detail/housekeeping.hpp>

#include "core/frame_depot.hpp"

#include <algorithm>

namespace hocket::inline HOCKET_ABI::detail {

namespace {

constinit atomic<housekeeping> housekeeper{nullptr};

}  // namespace

void register_housekeeping(housekeeping function) noexcept {
  // ORDER: release, pairs with the load in keep_house().
  housekeeper.store(function, std::memory_order_release);
}

time_point keep_house(const clock_source& time) noexcept {
  // ORDER: acquire, pairs with the store in register_housekeeping().
  const housekeeping function = housekeeper.load(std::memory_order_acquire);
  duration due = keep_frames(time);
  if (function) due = std::min(due, function(time));
  return due == duration::max() ? time_point::max() : deadline_after(time.now(), due);
}

}  // namespace hocket::inline HOCKET_ABI::detail
