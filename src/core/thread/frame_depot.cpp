#include "core/thread/frame_depot.hpp"

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

constinit frame_depot the_frame_depot{};

}  // namespace

frame_depot& frame_depot::shared() noexcept { return the_frame_depot; }

void free_frames(cached_frame* first, std::size_t index) noexcept {
  while (first) delete_frame(std::exchange(first, first->next), frame_size(index));
}

// Called under the lock.
frame_depot::magazine* frame_depot::pop(shelf& source) noexcept {
  magazine* const popped = source.top;
  if (!popped) return nullptr;
  source.top = popped->below;
  --source.count;
  source.lowest = std::min(source.lowest, source.count);
  // ORDER: relaxed, pairs with nothing: a count.
  held_.fetch_sub(magazine_bytes(static_cast<std::size_t>(&source - shelves_)), std::memory_order_relaxed);
  return popped;
}

cached_frame* frame_depot::take(std::size_t index) noexcept {
  shelf& source = shelves_[index];
  locked guard(source.lock);
  return pop(source);
}

bool frame_depot::reserve(std::size_t bytes) noexcept {
  // ORDER: relaxed, pairs with nothing: a count.
  if (held_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit()) return true;
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void frame_depot::leave(cached_frame* full, std::size_t index) noexcept {
  if (!reserve(magazine_bytes(index))) return free_frames(full, index);
  if (!put(full, shelves_[index])) return;
  // ORDER: acquire, pairs with the store in set_decay(): the clock is complete.
  const clock_source* const own = time_.load(std::memory_order_acquire);
  static_cast<void>(maintain((own ? *own : steady_clock()).now()));
}

// Whether the decay must run now.
bool frame_depot::put(cached_frame* full, shelf& to) noexcept {
  cached_frame* const rest = full->next;
  locked guard(to.lock);
  to.top = ::new (static_cast<void*>(full)) magazine{{rest}, to.top};
  ++to.count;
  return ++to.put_count % puts_per_maintenance == 0;
}

std::size_t frame_depot::trim() noexcept {
  std::size_t released = 0;
  for (std::size_t index = 1; index <= frame_classes; ++index) {
    while (cached_frame* full = take(index)) {
      free_frames(full, index);
      released += magazine_bytes(index);
    }
  }
  return released;
}

// --- decay

// Null: no unneeded magazine is left, and the next period of this shelf begins.
frame_depot::magazine* frame_depot::pop_unneeded(shelf& source) noexcept {
  locked guard(source.lock);
  if (source.lowest == 0) {
    source.lowest = source.count;
    return nullptr;
  }
  const std::size_t rest = source.lowest - 1;
  magazine* const popped = pop(source);
  source.lowest = rest;
  return popped;
}

// False: there are more.
bool frame_depot::release_unneeded() noexcept {
  std::size_t released = 0;
  for (; next_shelf_ <= frame_classes; ++next_shelf_) {
    while (magazine* unneeded = pop_unneeded(shelves_[next_shelf_])) {
      free_frames(unneeded, next_shelf_);
      released += magazine_bytes(next_shelf_);
      if (released >= (std::size_t{1} << 20)) return false;
    }
  }
  next_shelf_ = 1;
  return true;
}

duration frame_depot::maintain(time_point now) noexcept {
  if (held() == 0) return duration::max();
  if (now >= due() && maintenance_.try_lock()) {
    if (now >= due()) set_due(release_unneeded() ? deadline_after(now, decay()) : now);
    maintenance_.unlock();
  }
  return std::max(duration::zero(), due() - now);
}

void frame_depot::set_decay(duration period, const clock_source& time) noexcept {
  // ORDER: release, pairs with the load in leave(): the clock is complete.
  time_.store(&time, std::memory_order_release);
  // ORDER: relaxed, pairs with nothing: numbers, each used by itself.
  decay_.store(period.count(), std::memory_order_relaxed);
  set_due(deadline_after(time.now(), period));
}

// The time to try the lock. The guarded state is checked under the lock.
void frame_depot::set_due(time_point due) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint.
  due_.store(due.time_since_epoch().count(), std::memory_order_relaxed);
}
time_point frame_depot::due() const noexcept {
  // ORDER: relaxed, pairs with nothing: the same.
  return time_point(duration(due_.load(std::memory_order_relaxed)));
}

}}}  // namespace hocket::detail
