// The state of the running thread: its executor, its context, its slots.
//
// Its sources are the only ones with `thread_local`. A coroutine that moves to another thread while it is suspended
// must not use an address that the compiler computed before: g++ and clang keep &thread_local in a register over a
// switch, and merge two calls of a plain noinline accessor. So this_thread() is a volatile asm, inline
// (core/thread/detail/platform/this_thread.hpp) or behind a call. Never keep the reference over a suspension point.
//
// If fibers are threads of the operating system (HOCKET_BACKEND=thread), the state belongs to the thread that resumed
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

// Per-thread pointers of higher layers. Each layer owns the slot of its name. Null until the first use.
enum class thread_slot : std::uint8_t { frame_memory, fiber, posting, driver, poster, lender, target };
inline constexpr std::size_t thread_slot_count = 7;

// The binding of a thread to the executor that runs on it.
struct executor_binding {
  executor* running_on = nullptr;        // the executor of this thread; null on a plain thread
  run_queue* ready = nullptr;            // its run queue, if this thread alone pops from it
  executor* pool = nullptr;              // the executor of many threads of which it is a worker; null: none
  stealable_queue* stealable = nullptr;  // this worker's queue of work that is posted to the pool
  fork_deque* forks = nullptr;           // its forks; null if no other thread could steal them
};

struct thread_state {
  executor_binding binding;
  std::size_t turn_left = 0;     // resumes that the executor's turn still allows; 0 outside of a turn
  visible_pointer<context> ctx;  // of the running coroutine; null: the root context
  // The forked child that runs as a call (coro/detail/fork_group.hpp); null: there is none.
  const coroutine_header* forked_call = nullptr;
  std::int32_t calls_left = 0;       // calls of forked children before this thread looks for other work
  std::uint8_t failed_searches = 0;  // successive searches that found no other work
  bool turn_is_over = false;         // the next group begins in another turn
  // The eager body that runs on the stack of the code that called it (coro/eager_task.hpp).
  const void* eager = nullptr;
  std::uint32_t early_ends = 0;  // frames that an error ended, and that are being destroyed (coro/or_return.hpp)
  // The budget (core/wait/seam/budget.hpp): the spent part, which the watch writes, too; the reads of the clock since
  // it was full; and the time of its end, in ticks of the steady clock (0: none).
  std::uint8_t spent = 0;
  std::uint8_t clock_reads = 0;
  std::int64_t budget_end = 0;
  void* slots[thread_slot_count] = {};
  // The executor of the coroutine that waits for this thread's blocking call. Null: none. For comparisons only.
  const executor* serves = nullptr;
  lock_record* locks =
      nullptr;  // the checked locks that it holds, the last first; at check level `debug` (core/checked_lock.hpp)
  // The state of the random numbers of sync/detail/chance.hpp, and the seed_generation() of their seed. 0: no seed yet.
  std::uint64_t chance = 0;
  // By spend_turn(): what it has subtracted from turn_left, and all that it was called for, since the begin of the
  // turn.
  std::size_t turn_subtracted = 0;
  std::size_t turn_spent = 0;
  std::uint64_t frame_generation = 0;  // core/thread/seam/housekeeping.hpp
  std::uint32_t chance_generation = 0;
  observer_visit* visit = nullptr;  // the observers that are being informed (src/core/wait/observed.cpp)
};

inline void*& slot_of(thread_state& thread, thread_slot slot) noexcept {
  return thread.slots[static_cast<std::size_t>(slot)];
}
inline void*& current_slot(thread_slot slot) noexcept { return slot_of(this_thread(), slot); }
// Sets a slot that in_current_slot() reads.
inline void set_current_slot(thread_slot slot, void* value) noexcept {
  current_slot(slot) = value;
  wrote_this_thread();
}

// The value of a slot of this thread.
template <thread_slot Slot>
[[HOCKET_ALWAYS_INLINE]] inline void* in_current_slot() noexcept {
  return read_this_thread<offsetof(thread_state, slots) + static_cast<std::size_t>(Slot) * sizeof(void*)>();
}

// In a run that has done the work of `count` further runs: the executor's turn ends so much earlier.
inline void spend_turn(std::size_t count) noexcept {
  thread_state& thread = this_thread();
  const std::size_t subtracted = thread.turn_left < count ? thread.turn_left : count;
  thread.turn_left -= subtracted;
  thread.turn_subtracted += subtracted;
  thread.turn_spent += count;
}

// Whether objects are being destroyed because of a failure: an exception in flight, or a task that an error ended
// early. Then an operation may be dropped without being awaited.
bool leaving_by_failure() noexcept;

// Ends the call of a forked child on this thread, if there is one. The child then ends as if a transfer had begun it.
void leave_forked_call() noexcept;

// Runs when this thread ends. On a thread of hocket it runs before the thread_local objects are destroyed. On another
// thread it runs after the destructors of the thread_local objects that were constructed later. `hook` must stay valid.
// Each hook runs once, the last registered first.
struct thread_exit_hook {
  void (*run)(thread_exit_hook& self) noexcept;
  thread_exit_hook* next = nullptr;
};
// False: the hook does not run, because the library is being unloaded.
[[nodiscard]] bool at_thread_exit(thread_exit_hook& hook) noexcept;

// The scope of the hooks on a thread of hocket: they run at its end. On other threads the first hook is registered with
// the system, which takes the lock of the loader. Constructors and destructors of a library run under that lock, and
// may wait for code that their runtime runs (FAULTS 62).
class exit_hook_scope {
 public:
  exit_hook_scope() noexcept;
  ~exit_hook_scope();
  exit_hook_scope(const exit_hook_scope&) = delete;
  exit_hook_scope& operator=(const exit_hook_scope&) = delete;
};

// Sets the binding and the context of this thread for a scope, as a worker does around its loop. The code in the scope
// is on no eager body.
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
