#include "io_memory/memory_medium.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

namespace {

constexpr std::size_t max_transfer = 65536;  // bytes of one call

}  // namespace

// --- random numbers

std::size_t memory_medium::random_part(std::size_t size, unsigned chance) noexcept {
  size = std::min(size, max_transfer);
  return size > 1 && happens(chance) ? 1 + random_.below(static_cast<std::uint32_t>(size)) : size;
}

duration memory_medium::latency() noexcept {
  const auto width =
      static_cast<std::uint64_t>(std::max<duration>(options_.max_latency - options_.min_latency, {}).count());
  return options_.min_latency + duration(width == 0 ? 0 : static_cast<duration::rep>(random_() % (width + 1)));
}

memory_object* memory_medium::choose(const std::vector<memory_object*>& objects) noexcept {
  if (objects.empty()) return nullptr;
  return objects[objects.size() == 1 ? 0 : random_.below(static_cast<std::uint32_t>(objects.size()))];
}

// --- arrivals

void memory_medium::schedule_edge(time_point when, std::uint64_t tag, memory_side side) {
  arrivals_.push({when, arrival_count_++, tag, side});
}

void memory_medium::schedule_bytes(time_point when, std::uint64_t tag) {
  if (happens(options_.idle_edges)) schedule_edge(now(), tag, memory_side::in);
  schedule_edge(happens(options_.late_edges) ? when + latency() : when, tag, memory_side::in);
}

time_point memory_medium::next_arrival() const noexcept {
  locked guard(mutex_);
  return arrivals_.empty() ? time_point::max() : arrivals_.top().when;
}

bool memory_medium::take_arrival(std::uint64_t& tag, memory_side& side) noexcept {
  locked guard(mutex_);
  if (arrivals_.empty() || arrivals_.top().when > now()) return false;
  tag = arrivals_.top().tag;
  side = arrivals_.top().side;
  arrivals_.pop();
  return true;
}

// --- watchers

void memory_medium::add(arrival_watcher& watcher) {
  locked guard(mutex_);
  watchers_.push_back(&watcher);
}

void memory_medium::remove(arrival_watcher& watcher) noexcept {
  locked guard(mutex_);
  std::erase(watchers_, &watcher);
}

// With a clock of its own the network has one thread, which does not sleep in a driver.
void memory_medium::notify_watchers() noexcept {
  if (options_.clock) return;
  locked guard(mutex_);
  for (arrival_watcher* const watcher : watchers_) watcher->recheck();
}

}}}  // namespace hocket::detail
