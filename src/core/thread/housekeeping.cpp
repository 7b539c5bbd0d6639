#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/housekeeping.hpp>

#include "core/thread/frame_depot.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// If nothing is due, a thread that reads the clock anyway reclaims this often, because depots are shared.
constexpr std::chrono::seconds check_interval{1};

}  // namespace

constinit reclaim_policy process_reclaim_policy;

void register_housekeeper(const housekeeper& registered) noexcept {
  // ORDER: release, pairs with the loads in generation() and reclaim().
  process_reclaim_policy.registered.store(&registered, std::memory_order_release);
}

void bump_policy_version() noexcept {
  // ORDER: relaxed, pairs with the load in generation().
  process_reclaim_policy.version.fetch_add(1, std::memory_order_relaxed);
}

time_point memory_reclaimer::reclaim_by_clock() noexcept {
  if (time_.now() >= next_check_ || generation() != reclaimed_generation_) return reclaim();
  gate_ = next_check_;
  return due_;
}

time_point memory_reclaimer::reclaim() noexcept {
  duration due = reclaim_frames(time_);
  // ORDER: acquire, pairs with the store in register_housekeeper().
  const housekeeper* const registered = process_reclaim_policy.registered.load(std::memory_order_acquire);
  if (registered) due = std::min(due, registered->reclaim_if_due(time_));
  const time_point now = time_.now();
  due_ = due == duration::max() ? time_point::max() : deadline_after(now, due);
  gate_ = next_check_ = std::min(due_, deadline_after(now, check_interval));
  // ORDER: relaxed, pairs with nothing: see frames().
  frames_.store(frame_memory_usage().held, std::memory_order_relaxed);
  reclaimed_generation_ = generation();
  return due_;
}

}}}  // namespace hocket::detail
