// A table of places of a task manager, with a lock of its own.
//
// Places are allocated in blocks, so they do not move. The place that was freed last is used first, because its memory
// is in the cache. The table has a timer wheel for its deadlines, made by the first deadline. The wheel is used under
// the lock of the table only.
//
// An id has the number of the use (32 bits), the number of the place (29 bits) and the number of the table (3 bits). A
// place is retired after its last use number: this costs its memory, once in 4 billion coroutines.
#pragma once
#include <hocket/time/seam/timer_wheel.hpp>
#include <manager/entry.hpp>
#include <memory>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A place with a passed deadline: the coroutine, with a reference, or the id of a promise.
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

  // Takes the lock. Reserves a place for the caller. Throws bad_alloc.
  managed_entry& take_place(const entry_options& options, time_point deadline);

  // Under `mutex`:
  managed_entry* find(task_id id) noexcept;  // of a coroutine or a reply
  managed_entry* place_at(std::size_t number) noexcept;
  // Stores a coroutine, or the promise of a reply, in its place.
  void bind(managed_entry& entry, scheduled& coroutine) noexcept {
    entry.bind(coroutine);
    ++counts.spawned;
    ++counts.live;
  }
  task_id bind(managed_entry& entry, const promise_kind& kind, void* promise) noexcept {
    entry.bind(kind, promise);
    ++counts.promised;
    return entry.id();
  }
  // Ends the use: invalidates the id and removes the deadline. free() follows, after the place has left its group.
  void retire(managed_entry& entry) noexcept;
  void free(managed_entry& entry) noexcept;

  void set_deadline(managed_entry& entry, time_point when);  // throws bad_alloc
  expired_place pop_due() noexcept;
  void count_end(outcome_kind ending) noexcept;

  std::vector<std::unique_ptr<block>> blocks;
  list<managed_entry> free_places;
  std::unique_ptr<timer_wheel> wheel;
  list<managed_entry> due;  // fired by the wheel
  manager_counts counts;
  const clock_source* time = nullptr;  // of the wheel

 private:
  void grow();
  void ensure_wheel();
};

inline shard& table_of(const managed_entry& entry) noexcept { return static_cast<shard&>(entry.table); }

}}}  // namespace hocket::detail
