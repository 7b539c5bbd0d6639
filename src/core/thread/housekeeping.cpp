#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/housekeeping.hpp>

#include "core/thread/frame_depot.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// With nothing to come back for, a thread that knows the time all the same looks as often: depots are shared.
constexpr std::chrono::seconds between_looks{1};

}  // namespace

constinit house_rules rules_of_houses;

void register_housekeeper(const housekeeper& of) noexcept {
  // ORDER: release, pairs with the loads in news() and look().
  rules_of_houses.other.store(&of, std::memory_order_release);
}

void change_house_terms() noexcept {
  // ORDER: relaxed, pairs with the load in news().
  rules_of_houses.terms.fetch_add(1, std::memory_order_relaxed);
}

time_point house::ask_clock() noexcept {
  if (time_.now() >= next_look_ || news() != seen_) return look();
  gate_ = next_look_;
  return due_;
}

time_point house::look() noexcept {
  duration due = keep_frames(time_);
  // ORDER: acquire, pairs with the store in register_housekeeper().
  const housekeeper* const other = rules_of_houses.other.load(std::memory_order_acquire);
  if (other) due = std::min(due, other->keep(time_));
  const time_point present = time_.now();
  due_ = due == duration::max() ? time_point::max() : deadline_after(present, due);
  gate_ = next_look_ = std::min(due_, deadline_after(present, between_looks));
  // ORDER: relaxed, pairs with nothing: see frames().
  frames_.store(frame_memory_usage().held, std::memory_order_relaxed);
  seen_ = news();
  return due_;
}

}}}  // namespace hocket::detail
