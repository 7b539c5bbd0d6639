// What the running code may ask about itself: its executor, its context, its thread's slots.
//
// Its sources are the home of `thread_local` in the library. A coroutine that moves to another thread while it is
// suspended must not see an address that the compiler computed before: both g++ and clang keep &thread_local in a
// register over a switch, and both fold two calls of a plain noinline accessor into one. Hence this_thread() is a
// volatile asm, in line (core/thread/detail/platform/this_thread.hpp) or behind a call. Never keep the reference over a
// suspension point.
//
// Where fibers are threads of the operating system (HOCKET_BACKEND=thread) all of this is the thread's that resumed
// them (base/seam/logical_thread.hpp).
#pragma once
#include <hocket/base/seam/call_site.hpp>
#include <hocket/base/seam/visible_pointer.hpp>
#include <hocket/core/thread/detail/platform/this_thread.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class lock_record;
}  // namespace detail

class context;
class executor;

namespace detail {

class fork_deque;
struct coroutine_header;
struct observer_visit;
class run_queue;
class stealable_queue;

// Per-thread pointers of the layers above core, each owned by the layer that is named. Null until first use.
enum class thread_slot : std::uint8_t { frame_memory, fiber, posting, driver, poster, lender };
inline constexpr std::size_t thread_slot_count = 6;

// What an executor lends to the thread that runs it.
struct executor_binding {
  executor* running_on = nullptr;        // whose loop runs on this thread; null on a plain thread
  run_queue* ready = nullptr;            // if this thread alone pops from it: what is posted to that executor goes here
  executor* pool = nullptr;              // the executor of many threads that it is a worker of; null if of none
  stealable_queue* stealable = nullptr;  // this worker's share of what is posted to the pool
  fork_deque* forks = nullptr;           // what it has forked; null if nobody would come for it
};

struct thread_state {
  executor_binding binding;
  std::size_t turn_left = 0;     // resumes that the executor's present turn still allows (whoever resumes counts)
  visible_pointer<context> ctx;  // the running coroutine's; null means the root context
  // The forked child that runs as a call (coro/detail/fork_group.hpp); null: it has ended.
  const coroutine_header* forked_call = nullptr;
  std::int32_t calls_left = 0;       // of forked children, before this thread looks for other work
  std::uint8_t failed_searches = 0;  // looks in a row that found no other work
  bool turn_is_over = false;         // the next group begins in another turn
  // The eager body that runs on the stack of the code that called it (coro/eager_task.hpp).
  const void* eager = nullptr;
  std::uint32_t early_ends = 0;  // destructions under way of frames that an error ended (coro/or_return.hpp)
  // The budget (core/wait/seam/budget.hpp): the spent part, which the watch writes, too; how often the clock was
  // asked since it was full; and when it ends by time, in ticks of the steady clock. 0: it does not.
  std::uint8_t spent = 0;
  std::uint8_t clock_reads = 0;
  std::int64_t budget_end = 0;
  void* slots[thread_slot_count] = {};
  // Whose coroutine waits for what this thread does: a blocking call. Null: nobody's. To be compared only.
  const executor* serves = nullptr;
  lock_record* locks = nullptr;  // which it holds, the last first; at check level `debug` (core/checked_lock.hpp)
  // sync/detail/chance.hpp: the state of its numbers, and what seed_generation() was when it took their seed. 0:
  // it has none.
  std::uint64_t chance = 0;
  std::uint64_t frame_generation = 0;  // core/thread/seam/housekeeping.hpp
  std::uint32_t chance_generation = 0;
  observer_visit* visit = nullptr;  // the observers that are being informed (src/core/wait/observed.cpp)
};

inline void*& slot_of(thread_state& thread, thread_slot slot) noexcept {
  return thread.slots[static_cast<std::size_t>(slot)];
}
inline void*& current_slot(thread_slot slot) noexcept { return slot_of(this_thread(), slot); }
// To be read by in_current_slot().
inline void set_current_slot(thread_slot slot, void* value) noexcept {
  current_slot(slot) = value;
  wrote_this_thread();
}

// What is in a slot of this thread.
template <thread_slot Slot>
[[HOCKET_ALWAYS_INLINE]] inline void* in_current_slot() noexcept {
  return read_this_thread<offsetof(thread_state, slots) + static_cast<std::size_t>(Slot) * sizeof(void*)>();
}

// Whether objects are destroyed because of a failure: an exception in flight, or a task that an error ended early. Then
// what they give up is not asked for.
bool leaving_by_failure() noexcept;

// From here on the forked child that runs as a call on this thread, if there is one, is none any more: it ends as if it
// had been begun by a transfer.
void leave_forked_call() noexcept;

// Runs when this thread ends: on a thread of hocket's own before its thread_local objects do, else after those of them
// that were made later. `hook` must stay valid; each hook runs once, last registered first.
struct thread_exit_hook {
  void (*run)(thread_exit_hook& self) noexcept;
  thread_exit_hook* next = nullptr;
};
// False: it will not run. The library that hocket is a part of is being unloaded, and would be gone by then.
[[nodiscard]] bool at_thread_exit(thread_exit_hook& hook) noexcept;

// Around all that a thread of hocket's own does: the hooks run at its end. Elsewhere the first one is registered with
// the system, which takes the lock of the loader: a library's constructors and destructors run under it, and wait there
// for what its runtime runs (FAULTS 62).
class exit_hook_scope {
 public:
  exit_hook_scope() noexcept;
  ~exit_hook_scope();
  exit_hook_scope(const exit_hook_scope&) = delete;
  exit_hook_scope& operator=(const exit_hook_scope&) = delete;
};

// Sets the running executor, its queues and the context for a scope: what a worker does around its loop. What runs
// in it stands on no eager body.
class running_scope {
 public:
  running_scope(const executor_binding& binding, context* ctx) noexcept;
  ~running_scope();
  running_scope(const running_scope&) = delete;
  running_scope& operator=(const running_scope&) = delete;

 private:
  const executor_binding outer_binding_;
  context* const outer_context_;
  const void* const outer_eager_;
};

}  // namespace detail

}}  // namespace hocket
