#include "runtime/idle_workers.hpp"

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void idle_workers::update_can_wake() noexcept {
  // ORDER: relaxed, pairs with the load in stealable_queue::should_offer(): the fences of both order it.
  can_wake_.store(searching_ == 0 && !asleep_.empty(), std::memory_order_relaxed);
}

bool idle_workers::begin_search() noexcept {
  locked guard(mutex_);
  if (2 * searching_ >= workers_) return false;
  ++searching_;
  update_can_wake();
  return true;
}

idle_workers::search_end idle_workers::end_search() noexcept {
  locked guard(mutex_);
  --searching_;
  update_can_wake();
  return {searching_ == 0, asleep_.size() + 1 == workers_};
}

idle_workers::sleep idle_workers::begin_sleep(worker_core& self, bool searching) noexcept {
  locked guard(mutex_);
  if (searching) --searching_;
  asleep_.push_back(&self);
  const bool others_awake = asleep_.size() != workers_;
  update_can_wake();
  return {searching_ == 0, others_awake};
}

idle_workers::wake_up idle_workers::end_sleep(worker_core& self) noexcept {
  locked guard(mutex_);
  stirred_ = all_observers;
  const auto found = std::find(asleep_.begin(), asleep_.end(), &self);
  const bool notified = found == asleep_.end();
  if (!notified) asleep_.erase(found);
  update_can_wake();
  return {notified, std::exchange(armed_, all_observers) != all_observers};
}

bool idle_workers::rests(observer self) noexcept {
  const auto bit = static_cast<std::uint8_t>(self);
  locked guard(mutex_);
  const bool all_slept = (stirred_ & bit) == 0 && asleep_.size() == workers_;
  stirred_ = static_cast<std::uint8_t>(stirred_ & ~bit);
  armed_ = static_cast<std::uint8_t>(all_slept ? armed_ & ~bit : armed_ | bit);
  return all_slept;
}

worker_core* idle_workers::notify() noexcept {
  locked guard(mutex_);
  if (searching_ != 0 || asleep_.empty()) return nullptr;
  worker_core* chosen = asleep_.back();
  asleep_.pop_back();
  ++searching_;
  update_can_wake();
  return chosen;
}

}}}  // namespace hocket::detail
