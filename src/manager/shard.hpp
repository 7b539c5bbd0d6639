// One of the tables of a task manager, with a lock of its own.
//
// Places come in blocks, so that they stay where they are; a freed one is the next to be used, as its memory is warm.
// The deadlines of a table stand in a wheel of its own, made by the first of them: it is turned, attached to and
// detached from under the table's lock.
//
// An id is the number of the use, 32 bits, then that of the place, 29, then that of the table, 3. A place whose uses
// are all used up is not used any more: that costs its memory, once in 4 billion coroutines.
#pragma once
#include <hocket/time/seam/timer_wheel.hpp>
#include <manager/entry.hpp>
#include <memory>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A deadline that has passed. The coroutine, with a reference; or the id of a promise.
struct expired_place {
  scheduled* coroutine = nullptr;
  task_id id = task_id::none;
};

struct alignas(64) shard : place_table {
  static constexpr unsigned shard_bits = managed_entry::table_bits, number_bits = 29;
  static constexpr std::size_t block_size = under_model ? 2 : 64;
  struct block;

  shard() noexcept;
  ~shard();

  // Takes the lock. A place in use, nobody's yet. Throws bad_alloc.
  managed_entry& take_place(const entry_options& options, time_point deadline);

  // All under `mutex`.
  managed_entry* find(task_id id) noexcept;  // of a coroutine or a reply
  managed_entry* at(std::size_t number) noexcept;
  // A coroutine, or the promise of a reply, is in its place.
  void hold(managed_entry& entry, scheduled& coroutine) noexcept {
    entry.hold(coroutine);
    ++counts.spawned;
    ++counts.live;
  }
  task_id hold(managed_entry& entry, const promise_kind& kind, void* promise) noexcept {
    entry.hold(kind, promise);
    ++counts.promised;
    return entry.id();
  }
  // The end of its use: its id is forgotten, its deadline taken back. Then, when it is in no group, free().
  void retire(managed_entry& entry) noexcept;
  void free(managed_entry& entry) noexcept;

  void set_deadline(managed_entry& entry, time_point when);  // throws bad_alloc
  expired_place pop_due() noexcept;
  void count_end(outcome_kind how) noexcept;

  std::vector<std::unique_ptr<block>> blocks;
  list<managed_entry> unused;
  std::unique_ptr<timer_wheel> wheel;
  list<managed_entry> due;  // those that the wheel has just fired
  manager_counts counts;
  const clock_source* time = nullptr;  // of its wheel

 private:
  void grow();
  void need_wheel();
};

inline shard& table_of(const managed_entry& entry) noexcept { return static_cast<shard&>(entry.table); }

}}}  // namespace hocket::detail
