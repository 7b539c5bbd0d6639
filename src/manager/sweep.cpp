// What goes through all places of a task manager, or through a group: stops, lists, counts, and deadlines that pass.
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <manager/manager_core.hpp>

#include <algorithm>
#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void manager_core::close() noexcept {
  // ORDER: relaxed, pairs with the load in open().
  closed_.store(true, std::memory_order_relaxed);
}

// A reply that is promised beside it either is found here, or finds that a stop was requested.
void manager_core::stop_all(stop_level level) noexcept {
  stop_.request(level);
  task_info some[16];
  std::uint64_t place = 0;
  while (const std::size_t found = list_from(place, some, std::size(some)))
    for (std::size_t i = 0; i < found; ++i) static_cast<void>(stop(some[i].id, level));
}

std::size_t manager_core::stop_group(task_group of, stop_level level) noexcept {
  if (of.value == 0) return 0;
  groups::walk members(groups_, of);
  std::array<task_id, 32> ids{};
  std::size_t asked = 0;
  while (const std::size_t found = members.next(ids.data(), ids.size()))
    for (std::size_t i = 0; i < found; ++i) asked += !stop(ids[i], level);
  return asked;
}

// `place` is that of a table, times 2^32, and of a place in it.
std::size_t manager_core::list_from(std::uint64_t& place, task_info* into, std::size_t room) noexcept {
  constexpr std::uint64_t table_size = std::uint64_t{1} << 32;
  std::size_t found = 0;
  while (found < room && place / table_size < std::size(shards_)) {
    shard& table = shards_[place / table_size];
    locked guard(table.mutex);
    managed_entry* entry = nullptr;
    while (found < room && (entry = table.at(place % table_size))) {
      ++place;
      if (entry->is_there()) entry->describe(into[found++]);
    }
    if (!entry) place = (place / table_size + 1) * table_size;
  }
  return found;
}

manager_counts manager_core::counts() noexcept {
  manager_counts all;
  // ORDER: relaxed, pairs with nothing: a statistic.
  all.refused = refused_.load(std::memory_order_relaxed);
  for (shard& table : shards_) {
    locked guard(table.mutex);
    const manager_counts& one = table.counts;
    all.live += one.live;
    all.expected += one.promised - one.completed - one.expired - one.abandoned;
    all.spawned += one.spawned;
    all.returned += one.returned;
    all.thrown += one.thrown;
    all.cancelled += one.cancelled;
    all.timed_out += one.timed_out;
    all.killed += one.killed;
    all.promised += one.promised;
    all.completed += one.completed;
    all.expired += one.expired;
    all.abandoned += one.abandoned;
    all.late += one.late;
  }
  return all;
}

// --- time

time_point manager_core::expire() noexcept {
  time_point next = time_point::max();
  for (shard& table : shards_)
    while (expire_some(table, next)) continue;
  return next;
}

// A few at a time, and without the lock what there is to do about them. False: that was all, and `next` tells the rest.
bool manager_core::expire_some(shard& table, time_point& next) noexcept {
  std::array<expired_place, 64> some;
  std::size_t count = 0;
  bool more = false;
  {
    locked guard(table.mutex);
    if (!table.wheel) return false;
    more = table.wheel->advance(some.size());
    while (!table.due.empty()) some[count++] = table.pop_due();
    if (!more) next = std::min(next, table.wheel->next_expiry());
  }
  for (std::size_t i = 0; i < count; ++i) pass(some[i]);
  return more;
}

// Its deadline has passed.
void manager_core::pass(const expired_place& due) noexcept {
  if (!due.coroutine) {
    static_cast<void>(fail(due.id, make_error_code(errc::deadline_exceeded), &manager_counts::expired));
    return;
  }
  due.coroutine->request_time_out();
  due.coroutine->release();
}

}}}  // namespace hocket::detail
