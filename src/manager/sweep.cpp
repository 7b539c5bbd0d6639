// Walks over all places of a task manager, or over a group: stops, lists, counts, and the expiry of deadlines.
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <manager/manager_core.hpp>

#include <algorithm>
#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void manager_core::close() noexcept {
  // ORDER: relaxed, pairs with the load in open().
  closed_.store(true, std::memory_order_relaxed);
}

// A reply that is promised concurrently is found here, or finds the requested stop.
void manager_core::stop_all(stop_level level) noexcept {
  stop_.request(level);
  task_info batch[16];
  std::uint64_t place = 0;
  while (const std::size_t found = list_from(place, batch, std::size(batch)))
    for (std::size_t i = 0; i < found; ++i) static_cast<void>(stop(batch[i].id, level));
}

std::size_t manager_core::stop_group(task_group group, stop_level level) noexcept {
  if (group.value == 0) return 0;
  groups::walk members(groups_, group);
  std::array<task_id, 32> ids{};
  std::size_t stopped = 0;
  while (const std::size_t found = members.next(ids.data(), ids.size()))
    for (std::size_t i = 0; i < found; ++i) stopped += !stop(ids[i], level);
  return stopped;
}

// `place` is the number of the table, times 2^32, plus the number of the place in it.
std::size_t manager_core::list_from(std::uint64_t& place, task_info* buffer, std::size_t capacity) noexcept {
  constexpr std::uint64_t table_size = std::uint64_t{1} << 32;
  std::size_t found = 0;
  while (found < capacity && place / table_size < std::size(shards_)) {
    shard& table = shards_[place / table_size];
    locked guard(table.mutex);
    managed_entry* entry = nullptr;
    while (found < capacity && (entry = table.place_at(place % table_size))) {
      ++place;
      if (entry->is_active()) entry->describe(buffer[found++]);
    }
    if (!entry) place = (place / table_size + 1) * table_size;
  }
  return found;
}

manager_counts manager_core::counts() noexcept {
  manager_counts total;
  // ORDER: relaxed, pairs with nothing: a statistic.
  total.refused = refused_.load(std::memory_order_relaxed);
  for (shard& table : shards_) {
    locked guard(table.mutex);
    const manager_counts& part = table.counts;
    total.live += part.live;
    total.expected += part.promised - part.completed - part.expired - part.abandoned;
    total.spawned += part.spawned;
    total.returned += part.returned;
    total.thrown += part.thrown;
    total.cancelled += part.cancelled;
    total.timed_out += part.timed_out;
    total.killed += part.killed;
    total.promised += part.promised;
    total.completed += part.completed;
    total.expired += part.expired;
    total.abandoned += part.abandoned;
    total.late += part.late;
  }
  return total;
}

// --- time

time_point manager_core::expire() noexcept {
  time_point next = time_point::max();
  for (shard& table : shards_)
    while (expire_batch(table, next)) continue;
  return next;
}

// Expires a batch: takes the places under the lock, and stops them after the unlock. False: no more are due, and `next`
// has the next deadline.
bool manager_core::expire_batch(shard& table, time_point& next) noexcept {
  std::array<expired_place, 64> batch;
  std::size_t count = 0;
  bool has_more = false;
  {
    locked guard(table.mutex);
    if (!table.wheel) return false;
    has_more = table.wheel->advance(batch.size());
    while (!table.due.empty()) batch[count++] = table.pop_due();
    if (!has_more) next = std::min(next, table.wheel->next_expiry());
  }
  for (std::size_t i = 0; i < count; ++i) expire_place(batch[i]);
  return has_more;
}

// Stops a coroutine or fails a promise after its deadline.
void manager_core::expire_place(const expired_place& due) noexcept {
  if (!due.coroutine) {
    static_cast<void>(fail(due.id, make_error_code(errc::deadline_exceeded), &manager_counts::expired));
    return;
  }
  due.coroutine->request_time_out();
  due.coroutine->release();
}

}}}  // namespace hocket::detail
