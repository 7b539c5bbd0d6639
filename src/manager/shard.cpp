#include "manager/shard.hpp"

#include <hocket/base/memory_source.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>

#include <algorithm>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr timer_kind place_expiry{[](timer_node& self, timer_call) noexcept {
  auto& entry = static_cast<managed_entry&>(self);
  table_of(entry).due.push_back(entry);
}};

}  // namespace

// A collector scans it: places have pointers of the program.
struct shard::block : from_memory_source {
  explicit block(shard& table, std::uint32_t first) noexcept {
    for (std::uint32_t i = 0; i < block_size; ++i)
      ::new (static_cast<void*>(&places[i])) managed_entry(table, first + i, place_expiry);
  }
  ~block() {
    for (managed_entry& place : places) place.~managed_entry();
  }
  union {
    managed_entry places[block_size];
  };
};

shard::shard() noexcept = default;
shard::~shard() { free_places.clear(); }

managed_entry& shard::take_place(const entry_options& options, time_point deadline) {
  locked guard(mutex);
  if (free_places.empty()) grow();
  if (deadline != time_point::max()) ensure_wheel();
  managed_entry& place = free_places.pop_back();
  place.begin_use(options);
  set_deadline(place, deadline);
  return place;
}

void shard::grow() {
  const std::size_t first = blocks.size() * block_size;
  if (first + block_size > std::size_t{1} << number_bits) throw std::bad_alloc();
  blocks.push_back(std::make_unique<block>(*this, static_cast<std::uint32_t>(first)));
  for (std::size_t i = block_size; i-- != 0;) free_places.push_back(blocks.back()->places[i]);
}

managed_entry* shard::place_at(std::size_t number) noexcept {
  return number / block_size < blocks.size() ? &blocks[number / block_size]->places[number % block_size] : nullptr;
}

managed_entry* shard::find(task_id id) noexcept {
  const auto bits = static_cast<std::uint64_t>(id);
  managed_entry* const found = place_at((bits >> shard_bits) & ((std::uint64_t{1} << number_bits) - 1));
  if (!found || found->id() != id) return nullptr;
  return found->is_active() ? found : nullptr;
}

void shard::retire(managed_entry& entry) noexcept {
  if (entry.has_deadline()) static_cast<void>(wheel->detach(entry));
  entry.when = time_point::max();
  entry.state = entry_state::leaving;
}

void shard::free(managed_entry& entry) noexcept {
  entry.state = entry_state::free;
  entry.user_data = nullptr;  // a collector must not find a dead pointer here
  if (++entry.use != 0) free_places.push_back(entry);
}

void shard::ensure_wheel() {
  if (!wheel) wheel = std::make_unique<timer_wheel>(*time);
}

void shard::set_deadline(managed_entry& entry, time_point when) {
  if (when != time_point::max()) ensure_wheel();
  if (entry.has_deadline()) static_cast<void>(wheel->detach(entry));
  entry.when = when;
  if (entry.has_deadline()) wheel->attach(entry);
}

expired_place shard::pop_due() noexcept {
  managed_entry& entry = due.pop_front();
  entry.when = time_point::max();
  if (entry.stop_reason == outcome_kind::none) entry.stop_reason = outcome_kind::timed_out;
  if (entry.state != entry_state::coroutine) return {nullptr, entry.id()};
  entry.coroutine->retain();
  return {entry.coroutine, entry.id()};
}

void shard::count_end(outcome_kind ending) noexcept {
  --counts.live;
  switch (ending) {
    case outcome_kind::value: ++counts.returned; break;
    case outcome_kind::exception: ++counts.thrown; break;
    case outcome_kind::timed_out: ++counts.timed_out; break;
    case outcome_kind::cancelled: ++counts.cancelled; break;
    case outcome_kind::killed: ++counts.killed; break;
    default: --counts.spawned;  // the coroutine could not be started
  }
}

}}}  // namespace hocket::detail
