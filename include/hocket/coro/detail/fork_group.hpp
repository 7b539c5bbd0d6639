// A group of tasks that may run on several workers at once: its children, and who goes on when they have ended.
//
// The children are begun one after the other. Whoever begins one (the *holder* of the rest) first puts the rest into
// its worker's deque (core/detail/fork_deque.hpp) and then runs the child at once. When that has ended
//   - the rest is still there: the holder takes it back, and begins the next one. Nobody else ever knew of it.
//   - it is not: a thief is the holder now, and this *branch* of the group is over.
// The child that was begun last has no rest: when it has ended, the holder *joins*. If nothing was stolen until then
// there is nobody to join with, and it is begun like a child that is awaited alone.
//
// The join counter is split. The holder counts thefts in steals_, without atomics, because the rest passes from one
// holder to the next through a deque. A branch that is over takes one from balance_; the holder that joins adds the
// thefts. Each theft makes one branch, so the sum is zero when all are over and the holder has joined, and is not zero
// before: whoever makes it zero resumes the parent. Where nothing was stolen there is no atomic operation at all.
// (Cilk's continuation stealing, on the children of one await; the split counter is libfork's, Williams and Elliott,
// "Libfork: portable continuation-stealing with stackless coroutines", 2024.)
//
// A child that waits leaves its worker, whose turn takes the rest out of its own deque like a thief. When that child
// goes on its rest is not the last entry of whatever deque is there, so it ends as a branch. Hence pop_if().
//
// The context. Children run beside each other, so they have no strand of their own (core/context.hpp): the outermost
// group makes one context for all that is forked below it. Code of that context goes on wherever its children end. A
// parent that must not move (a fiber, a child of a when_all, a coroutine that is not ours) is posted to its home.
//
// Without a deque (on a plain thread), or without memory for it, the holder keeps the rest to itself: the children run
// one after the other.
//
// What is in line. A group below another one begins its first child in line, and writes nothing that it does not need;
// the outermost one, and one whose parent has a home of its own, begins out of line.
//
// Who may touch what. next_, steals_: the holder. failed_, balance_: any branch. special_, work_: whoever resumes the
// parent, and the parent. Everything else is constant from the beginning to the resumption of the parent.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/detail/fork_deque.hpp>
#include <hocket/coro/task.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI::detail {

class fork_group : private fork_entry {
 public:
  fork_group(const fork_group&) = delete;
  fork_group& operator=(const fork_group&) = delete;

  // A task that was forked has ended. Gives whom to run next.
  static std::coroutine_handle<> ended(coroutine_header& child) noexcept;

 protected:
  using handle = std::coroutine_handle<>;

  // What is not initialised here is so when the first child begins.
  fork_group() noexcept : fork_entry{&begin_rest} {}
  ~fork_group() {
    if constexpr (debug_checks) expect_over();
    if (outer_) [[unlikely]]
      ctx_->release();
  }

  // Begins the first of `count` children. `above`: the parent's header; null if it has none. `migrates`: the parent may
  // be resumed wherever its children end. Throws bad_alloc.
  handle begin_group(const handle* children, std::size_t count, handle parent, coroutine_header* above, bool migrates);
  // begin_group() where `above` migrates.
  [[HOCKET_ALWAYS_INLINE]] handle begin_migratable(const handle* children, std::size_t count, handle parent,
                                                   coroutine_header& above) {
    if (!above.ctx || !above.ctx->forks() || above.budget == 0) [[unlikely]]
      return begin_group(children, count, parent, &above, true);
    set(children, count, parent, true);
    ctx_ = above.ctx;
    return begin_next(this_thread(), above.budget);
  }
  // When the parent runs again. Throws what unwinds it, if the coroutine was killed.
  void end_group() {
    if constexpr (debug_checks) begun_ = false;
    if (special_) [[unlikely]]
      end_specially();
  }

 private:
  static handle begin_rest(fork_entry& self) noexcept;
  void set(const handle* children, std::size_t count, handle parent, bool has_header) noexcept {
    next_ = children;
    end_ = children + count;
    parent_ = parent;
    steals_ = 0;
    migrates_ = true;
    joins_ = false;
    has_header_ = has_header;
    special_ = false;
    posted_ = false;
    if constexpr (debug_checks) begun_ = true;
  }
  void make_context(context& above);
  // The link of a child to its group: a runnable's `next` means nothing outside of a queue.
  runnable* as_link() noexcept { return reinterpret_cast<runnable*>(this); }
  static fork_group& of(coroutine_header& child) noexcept {
    return *reinterpret_cast<fork_group*>(child.continuation.next);
  }

  // The holder begins a child: the rest first, so that it can be stolen while the child runs. `budget`: the transfers
  // that are left.
  [[HOCKET_ALWAYS_INLINE]] handle begin_next(thread_state& here, std::uint16_t budget) noexcept {
    const handle child = *next_;
    const handle* const rest = ++next_;
    coroutine_header& header = header_of(child);
    header.continuation.handle = parent_;
    header.ctx = ctx_;
    header.budget = static_cast<std::uint16_t>(budget - 1);
    if (rest == end_) {
      // Else there is nobody to join: it is a child like any other.
      if (joins_) [[unlikely]]
        mark(header, task_flag::forked | task_flag::last_fork);
      return child;
    }
    mark(header, task_flag::forked);
    fork_deque* const forks = here.seat.forks;
    if (!forks || !forks->try_push(*this)) [[unlikely]]
      return begin_crowded(here, child);
    if (forks->wanted()) [[unlikely]]
      return begin_wanted(here, child);
    return child;
  }
  void mark(coroutine_header& child, std::uint8_t flags) noexcept {
    child.flags = flags;
    child.continuation.next = as_link();
  }
  // What begin_next() does where there is no deque or no room in it, and where somebody looks for work: calls in tail
  // position, for which it need not save a register.
  handle begin_crowded(thread_state& here, handle child) noexcept;
  static handle begin_wanted(thread_state& here, handle child) noexcept;
  [[HOCKET_ALWAYS_INLINE]] handle go_on(thread_state& here, std::uint16_t budget) noexcept {
    // ORDER: relaxed, pairs with the store in ended(): children that need not begin may begin.
    if (failed_.load(std::memory_order_relaxed)) [[unlikely]]
      return skip_rest(here, budget);
    if (budget == 0 && here.seat.running_on) [[unlikely]]
      return begin_later(here);
    return begin_next(here, budget);
  }
  handle skip_rest(thread_state& here, std::uint16_t budget) noexcept;
  handle end_contended(thread_state& here, std::uint16_t budget) noexcept;
  handle begin_later(thread_state& here) noexcept;
  handle end_branch(thread_state& here, std::uint16_t budget) noexcept;
  handle join(thread_state& here, std::uint16_t budget) noexcept;
  handle resume_parent(thread_state& here, std::uint16_t budget) noexcept;
  handle bounce(handle to, executor& on) noexcept;
  void end_specially();
  void expect_over() const noexcept;

  context* outer_ = nullptr;  // if this is the outermost group: the parent's; then ctx_ is held
  context* ctx_;              // the children's
  const handle* next_;        // the child that begins next
  const handle* end_;
  handle parent_;
  executor* parent_home_;  // unless the parent migrates
  std::int32_t steals_;
  atomic<std::int32_t> balance_{0};
  atomic<bool> failed_{false};
  bool special_;        // the parent came out of a queue, or outer_
  bool posted_;         // the parent came out of a queue
  bool joins_;          // steals_ is not zero, or the parent does not migrate
  bool migrates_;       // the parent goes on wherever the last child ends
  bool has_header_;     // the parent
  bool begun_ = false;  // level debug
  union {
    runnable work_;  // the parent, or a child, on its way through a queue
  };
};

}  // namespace hocket::inline HOCKET_ABI::detail
