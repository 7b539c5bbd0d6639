// A group of tasks that may run on several workers at once: its children, and how its parent is resumed when all of
// them have ended.
//
// The holder. The children begin one after the other. The *holder* of the group makes a child, puts the rest of the
// group into its worker's deque (core/thread/seam/fork_deque.hpp) and runs the child at once. When the child has
// ended:
//   - If the rest is still in the deque, the holder pops it and begins the next child. No other thread has seen it.
//   - If the rest was stolen, the thief is the holder now, and this *branch* of the group is over.
// The last child has no rest. When it has ended, the holder *joins*.
//
// The join counter is split. The holder counts thefts in steals_, without atomics, because the rest passes from one
// holder to the next through a deque. At its end a branch subtracts one from balance_. The holder that joins adds the
// thefts. Each theft makes one branch, so the sum is zero when all branches are over and the holder has joined, and not
// before. The thread that makes the sum zero resumes the parent. Without a theft no atomic operation happens at all.
// (Cilk's continuation stealing, on the children of one await; the split counter is libfork's, Williams and Elliott,
// "Libfork: portable continuation-stealing with stackless coroutines", 2024.)
//
// Two ways to run a child.
//   transfer   The child is resumed by a symmetric transfer, and its end transfers to its sibling or parent: ended().
//   call       The parent is a task, its group has the context of a group above it, and the worker has a deque. Then
//              await_suspend() of the parent resumes the child as a function call. A child that ends there frees its
//              own frame and returns. The parent continues in the same activation, without a dispatch.
//
// Calls. thread_state::forked_call names the innermost child that runs as a call on this thread.
//
//   caller   1. `outer` = forked_call; forked_call = the child; resumes it
//            2. null: the child has ended, its result is in place, its frame is freed. The parent continues
//            3. else: the child has left. forked_call = `outer`; "the parent stays suspended"
//   child    at its end, if forked_call names the child: forked_call = null; final_suspend does not suspend, so the
//            frame is freed
//
// A child leaves when it waits, when it fails, or when it ends early (or_return). From then on it runs like a child
// that was begun by a transfer, on any thread. All callers below it return to the worker. The rest of each of their
// groups is in the deque, and the worker begins it from there.
//
// Hazards.
//   - A frame after a leave. If a caller touched its parent's frame or the group after a child has left, it would race
//     with another thread that resumes the parent. Prevented: in case 3 a caller uses thread_state and `outer` only.
//     Clang before 19 may inline await_suspend() and keep its variables in the parent's frame. Hence it is not inlined.
//   - A stale name. If a child ends elsewhere and a new frame takes its address while forked_call still names it, then
//     the new frame would end as a call. Prevented: after a child has left by a wait of ours, nothing begins on that
//     stack until its caller has restored `outer`. A child that waits for a foreign awaitable, fails or ends early
//     clears forked_call (leave_forked_call()).
//   - Stack. A level takes about 160 bytes of the worker's stack with optimisation, 1 KB with sanitizers. Each level
//     takes one of the budget (256, or 16 on the stack of an eager task's caller). A coroutine that is resumed on this
//     stack gets the rest of the budget, also behind a foreign coroutine (task_chain::start_alone()). At zero the
//     group begins from an unwound stack: through the deque, or its next child through the queue.
//   - Time. A tree of calls would keep its worker until it is done. thread_state::calls_left bounds that: after 256
//     calls, if another coroutine is ready there, and after 1,024 in any case (timers, I/O), the next group begins
//     through the deque.
//
// The context. Children run beside each other, so they have no strand of their own (core/context.hpp): the outermost
// group makes one context for all groups below. Code of that context continues on the thread where its children end. A
// parent that must not move (a fiber, a child of a when_all, a foreign coroutine) is posted to its home.
//
// Without a deque (on a plain thread), or without memory for it, no other thread can take the rest: the children run
// one after the other.
//
// A child writes its result to its place in the parent's frame (fork_place.hpp), its exception to the group. Its frame
// is freed at its end. A child that ended early is freed by the parent, because its locals are still there.
//
// Access.
//   next_, steals_                  the holder
//   failed_, balance_               any branch
//   lost_, losses_                  any branch, under losses_mutex_
//   unscheduled_                    begin_unscheduled(), and the thread that resumes the parent
//   special_, work_                 begin_group() and begin_unscheduled(), then the thread that resumes the parent
//   all other members               constant from the beginning of the group to the resumption of the parent
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/thread/seam/fork_deque.hpp>
#include <hocket/coro/detail/task_promise.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class fork_group : private fork_entry {
 public:
  fork_group(const fork_group&) = delete;
  fork_group& operator=(const fork_group&) = delete;

  // A forked child has ended and was not a call. Returns the next coroutine to run.
  static std::coroutine_handle<> ended(coroutine_header& child) noexcept;
  static void child_failed(coroutine_header& child, const void* place, std::exception_ptr error) noexcept;

 protected:
  using handle = std::coroutine_handle<>;

  // Makes child number `index`, which writes to its place. The holder calls it once for each child. Null: it has called
  // make_failed().
  using maker = handle (*)(fork_group& self, std::size_t index) noexcept;
  explicit fork_group(maker make) noexcept : fork_entry{&begin_rest}, make_(make) {
    if constexpr (debug_checks) begun_ = false;
  }
  ~fork_group() {
    if constexpr (debug_checks) expect_over();
    if (outer_) [[unlikely]]
      ctx_->release();
  }

  // By the maker, in a handler. `place`: the place of the child. The addresses are in the order of the children.
  void make_failed(const void* place) noexcept { fail(place, std::current_exception()); }

  // Begins the first of `count` children. The parent stays suspended. `above`: its header; null if it has none.
  // `migrates`: it may be resumed wherever its children end. Throws bad_alloc.
  handle begin_group(std::size_t count, handle parent, coroutine_header* above, bool migrates);
  // By the resumed parent. Rethrows the exception of the first failed child, or unwinds a killed parent. Before that it
  // calls drop(), for the children that have not begun.
  template <class Drop>
  [[HOCKET_ALWAYS_INLINE]] void end_group(Drop drop) {
    if constexpr (debug_checks) begun_ = false;
    if (!special_) [[likely]]
      return;
    if (lost_) drop();
    end_specially();
  }

  // --- children as calls
  enum class turn : std::uint8_t { next, parent, none };  // the coroutine that runs next on this stack

  struct caller {
    thread_state& thread;
    const coroutine_header* outer;
    std::uint16_t budget;
  };
  static bool can_call(const thread_state& thread, const coroutine_header& above) noexcept {
    return !portable_build && above.ctx && above.ctx->forks() && above.budget != 0 && thread.binding.forks;
  }
  // Whether so many children may be called now. If not, the next group begins through the deque.
  static constexpr std::int32_t calls_per_renewal = 256;
  [[HOCKET_ALWAYS_INLINE]] static bool may_call(thread_state& thread, std::int32_t children) noexcept {
    thread.calls_left -= children;
    return thread.calls_left >= 0 || renew_calls(thread);
  }
  // `above` has no budget left for a call.
  static bool is_late(coroutine_header& above) noexcept {
    above.budget = 0;
    return true;
  }
  // Begins the group without calls. Returns whether the parent stays suspended.
  [[HOCKET_NOINLINE, HOCKET_COLD]] bool begin_by_transfer(std::size_t count, handle parent, coroutine_header& above);
  [[HOCKET_ALWAYS_INLINE]] caller begin_calls(thread_state& thread, std::size_t count, handle parent,
                                              coroutine_header& above) noexcept {
    set(count, parent);
    ctx_ = above.ctx;
    return {thread, thread.forked_call, static_cast<std::uint16_t>(above.budget - 1)};
  }
  // Instead of child number `next`, at which the calls are used up.
  turn call_later(const caller& origin, std::size_t next) noexcept;
  // Runs a child that has a rest, which begins with number `next`.
  [[HOCKET_ALWAYS_INLINE]] turn call(const caller& origin, handle child, std::size_t next) noexcept {
    if (!child) [[unlikely]]
      return continue_without_child(origin);
    coroutine_header& header = prepare(child, origin.budget, task_flag::forked);
    next_ = next;
    fork_deque& forks = *origin.thread.binding.forks;
    if (!forks.try_push(*this)) [[unlikely]]
      return call_crowded(origin, child);
    if (forks.should_offer()) [[unlikely]]
      offer(origin.thread);
    if (!run(origin, child, header)) [[unlikely]]
      return turn::none;
    const auto result = forks.try_pop_if(*this);
    if (result != fork_deque::pop_outcome::taken) [[unlikely]]
      return continue_after_theft(origin, result);
    return turn::next;
  }
  [[HOCKET_ALWAYS_INLINE]] turn call_last(const caller& origin, handle child) noexcept {
    if (!child) [[unlikely]]
      return continue_without_child(origin);
    coroutine_header& header = prepare(child, origin.budget, task_flag::forked | task_flag::last_fork);
    if (!run(origin, child, header)) [[unlikely]]
      return turn::none;
    origin.thread.forked_call = origin.outer;
    return turn::parent;
  }

 private:
  // The frames and the exception that children leave.
  struct losses {
    coroutine_header* early_frames = nullptr;  // frames of children that ended early
    const void* place = nullptr;               // of the child that threw `error`
    std::exception_ptr error;
  };

  static handle begin_rest(fork_entry& self) noexcept;
  void set(std::size_t count, handle parent) noexcept {
    if constexpr (debug_checks) expect_first();
    end_ = count;
    parent_ = parent;
    if constexpr (debug_checks) begun_ = true;
  }
  void make_context(context& above);
  // The link of a child to its group, in the `next` of a runnable that is in no queue.
  runnable* as_link() noexcept { return reinterpret_cast<runnable*>(this); }
  static fork_group& group_of(coroutine_header& child) noexcept {
    return *reinterpret_cast<fork_group*>(child.continuation.next);
  }
  [[HOCKET_ALWAYS_INLINE]] coroutine_header& prepare(handle child, std::uint16_t budget, std::uint8_t flags) noexcept {
    coroutine_header& header = header_of(child);
    header.flags = flags;
    header.budget = budget;
    header.continuation.next = as_link();
    header.continuation.handle = parent_;
    header.ctx = ctx_;
    return header;
  }
  // Whether the child has ended. If not, this group may be destroyed already.
  [[HOCKET_ALWAYS_INLINE]] static bool run(const caller& origin, handle child,
                                           const coroutine_header& header) noexcept {
    origin.thread.forked_call = &header;
    child.resume();
    if (!origin.thread.forked_call) [[likely]]
      return true;
    origin.thread.forked_call = origin.outer;
    return false;
  }

  // The rare cases of call(): out of line, and static if the group may be destroyed already.
  bool begin_unscheduled(thread_state& thread, std::size_t count, handle parent, coroutine_header& above);
  static bool renew_calls(thread_state& thread) noexcept;
  static void offer(thread_state& thread) noexcept;
  turn call_crowded(const caller& origin, handle child) noexcept;
  turn continue_without_child(const caller& origin) noexcept;
  turn continue_after_theft(const caller& origin, fork_deque::pop_outcome result) noexcept;
  static turn continue_with(handle parent, handle next) noexcept;
  static void forget_call(const coroutine_header& child) noexcept;

  handle publish_rest(thread_state& thread, handle child) noexcept;
  handle make_next(std::uint16_t budget) noexcept;
  handle begin_next(thread_state& thread, std::uint16_t budget) noexcept;
  handle begin_later(thread_state& thread) noexcept;
  handle continue_group(thread_state& thread, std::uint16_t budget) noexcept;
  handle end_branch(thread_state& thread, std::uint16_t budget) noexcept;
  handle join(thread_state& thread, std::uint16_t budget) noexcept;
  handle resume_parent(thread_state& thread, std::uint16_t budget) noexcept;
  handle bounce(handle target, executor& home) noexcept;
  void fail(const void* place, std::exception_ptr error) noexcept;
  void defer_destroy(coroutine_header& child) noexcept;
  losses& open_losses() noexcept;
  std::exception_ptr take_error() noexcept;
  void end_specially();
  void expect_first() const noexcept;
  void expect_over() const noexcept;

  context* outer_ = nullptr;  // of the outermost group: the parent's context; then the group holds ctx_
  const maker make_;
  context* ctx_;      // the children's
  std::size_t next_;  // the child that is made next
  std::size_t end_;
  handle parent_;
  executor* parent_home_;  // unless the parent migrates
  std::int32_t steals_ = 0;
  atomic<std::int32_t> balance_{0};
  thread_mutex losses_mutex_;
  bool special_ = false;    // end_group() has more to do than to take the results
  bool posted_ = false;     // the parent was posted
  bool migrates_ = true;    // the parent continues on the thread where the last child ends
  bool has_header_ = true;  // the parent has a header
  atomic<bool> failed_{false};
  bool lost_ = false;  // losses_ is constructed
  enum class unscheduled : std::uint8_t { no, running, suspended, ended };
  atomic<unscheduled> unscheduled_{unscheduled::no};  // if special_: without an executor
  bool begun_;                                        // level debug
  union {
    losses losses_;
  };
  union {
    runnable work_;  // the parent, or a child, on its way through a queue
  };
};

}}}  // namespace hocket::detail
