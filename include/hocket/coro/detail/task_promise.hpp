// The promise of a task: its place in the chain of awaiting coroutines, and its result.
//
// coroutine_header, as a task uses it:
//
//   budget         the remaining transfers of the chain, before it goes through the queue (task.hpp)
//   flags          parent_has_header: the parent is a hocket coroutine, its budget may be written
//   reserved       task_bit::*, below
//   continuation   .handle  the parent; it is what a debugger follows
//                  .home    null: the parent runs where the task ends. Else the executor of a parent that its child
//                           must not move (a fiber, the root of a sync_wait, a foreign coroutine)
//                  If a transfer up finds no budget, the runnable itself is queued, with the parent. A start without
//                  budget is queued by another runnable (src/coro/queued_start.hpp).
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/foreign_wait.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/coro/detail/fork_place.hpp>
#include <hocket/coro/detail/frame_allocation.hpp>
#include <exception>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Beside header_flag. A task whose flags are exactly parent_has_header returns to its parent by a plain transfer.
namespace task_flag {
inline constexpr std::uint8_t parent_homed = 0x80;  // continuation.home may not be null
inline constexpr std::uint8_t holds_strand = 0x08;  // its strand does not migrate until it has ended
inline constexpr std::uint8_t forked = 0x10;        // continuation.next is a fork_group
inline constexpr std::uint8_t last_fork = 0x20;     // of its group
inline constexpr std::uint8_t keeps_rest = 0x40;    // its group's rest is in no deque
}  // namespace task_flag

namespace task_bit {
inline constexpr std::uint32_t value = 1;          // slot holds the result
inline constexpr std::uint32_t error = 2;          // slot holds the exception
inline constexpr std::uint32_t start_queued = 4;   // it will begin through the queue
inline constexpr std::uint32_t parent_queued = 8;  // continuation is or was in a queue
inline constexpr std::uint32_t ended_early = 16;   // by end_here() or fail_here(): its locals still exist
inline constexpr std::uint32_t next_pending = 16;  // of an async_generator: a next() is in progress
inline constexpr std::uint32_t keeps_error = 32;   // no body: it holds the exception of a body (kept_error.hpp)
}  // namespace task_bit

// A reference to an object that is its own awaiter: g++ 12 would copy the awaiter that an await_transform returns.
template <class W>
class awaiter_ref : public own_awaiter {
 public:
  explicit awaiter_ref(W& awaiter) noexcept : awaiter_(awaiter) {}
  decltype(auto) await_ready() const noexcept(noexcept(std::declval<W&>().await_ready())) {
    return awaiter_.await_ready();
  }
  template <class Promise>
  decltype(auto) await_suspend(std::coroutine_handle<Promise> self) const
      noexcept(noexcept(std::declval<W&>().await_suspend(self))) {
    return awaiter_.await_suspend(self);
  }
  decltype(auto) await_resume() const { return awaiter_.await_resume(); }

 private:
  W& awaiter_;
};

// The part of a task that does not depend on the result. Also of an async_generator, which ends and starts again with
// each value.
class task_chain : public migratable_header, public recycled_frame {
 public:
  // Most parents are tasks: then start_below() need not write the flags.
  task_chain() noexcept {
    kind = coroutine_kind::task;
    flags = header_flag::parent_has_header;
  }

  // g++ keeps the awaiter in the frame. It does not know that a handle leads back to the promise, hence `self_`.
  class last {
   public:
    explicit last(task_chain& self) noexcept : self_(self) {}
    // A forked child that is still a call frees itself, and its caller continues (fork_group.hpp).
    [[HOCKET_ALWAYS_INLINE]] bool await_ready() const noexcept { return !self_.is_plain() && self_.ends_as_call(); }
    [[HOCKET_ALWAYS_INLINE]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
      return self_.end();
    }
    static void await_resume() noexcept {}

   private:
    task_chain& self_;
  };
  last final_suspend() noexcept { return last(*this); }

  // A foreign awaitable is awaited through a bridge (the last overload).
  template <class A>
  static A&& await_transform(A&& a) noexcept {
    return static_cast<A&&>(a);
  }
  template <trusted_awaiter A>
  static awaiter_ref<std::remove_reference_t<A>> await_transform(A&& a) noexcept {
    return awaiter_ref<std::remove_reference_t<A>>(a);
  }
  // Waits with shared storage.
  template <class A>
    requires has_awaiter_in_task<A>
  static auto await_transform(A&& a) noexcept(noexcept(std::forward<A>(a).await_in_task())) {
    return std::forward<A>(a).await_in_task();
  }
  template <foreign_awaitable A>
  static foreign_wait<A> await_transform(A&& a) {
    return foreign_wait<A>(std::forward<A>(a));
  }

  bool awaited() const noexcept { return static_cast<bool>(continuation.handle); }
  bool keeps_error() const noexcept { return (reserved & task_bit::keeps_error) != 0; }
  // By the resumed parent. If it was queued, the context that it shares with this task becomes the current one.
  void dequeued() noexcept {
    if (reserved & task_bit::parent_queued) this_thread().ctx = ctx;
    reserved &= ~task_bit::parent_queued;
  }

  // `parent` awaits the task. Returns the next coroutine to run.
  template <class Promise>
  std::coroutine_handle<> start(std::coroutine_handle<> self, std::coroutine_handle<Promise> parent) noexcept {
    if constexpr (std::is_void_v<Promise>) return start_alone(self, parent);
    else if constexpr (std::is_base_of_v<migratable_header, Promise>)
      return start_below(self, parent, parent.promise());
    else if constexpr (has_header<Promise>) return start_beside(self, parent, parent.promise());
    else return start_alone(self, parent);
  }

 protected:
  using handle = std::coroutine_handle<>;

  // The parent is a task, or no coroutine: it continues on the thread where this task ends.
  handle start_below(handle self, handle parent, coroutine_header& above) noexcept {
    continuation.handle = parent;
    ctx = above.ctx;
    if (above.budget == 0) [[unlikely]]
      return start_later(self);
    budget = static_cast<std::uint16_t>(above.budget - 1);
    return self;
  }
  // The parent has a header and a home of its own.
  handle start_beside(handle self, handle parent, coroutine_header& above) noexcept {
    continuation.home = current_executor();
    flags |= task_flag::parent_homed;
    return start_below(self, parent, above);
  }
  // The parent is a foreign coroutine.
  handle start_alone(handle self, handle parent) noexcept;

  // Its parent awaits this task alone, and continues on the thread where the task ends.
  bool is_plain() const noexcept { return flags == header_flag::parent_has_header; }
  bool forked() const noexcept { return !is_plain() && (flags & task_flag::forked); }
  // Passes the exception of a forked child to its group.
  void fork_failed(const void* place, std::exception_ptr error) noexcept;

  // After the end of the task: returns the next coroutine to run.
  handle end() noexcept {
    if (budget == 0 || flags != header_flag::parent_has_header) [[unlikely]]
      return end_slowly();
    const handle parent = continuation.handle;
    header_of(parent).budget = static_cast<std::uint16_t>(budget - 1);
    return parent;
  }

 private:
  handle start_later(handle self) noexcept;
  handle end_slowly() noexcept;
  [[HOCKET_ALWAYS_INLINE]] bool ends_as_call() noexcept {
    thread_state& thread = this_thread();
    if (thread.forked_call != this) return false;
    thread.forked_call = nullptr;
    return true;
  }
};

// In effect while the frame of a task that ended early by an error is destroyed: its locals are destroyed as if by an
// exception.
class early_destruction {
 public:
  explicit early_destruction(bool early) noexcept : early_(early) {
    if (early_) [[unlikely]]
      ++this_thread().early_ends;
  }
  early_destruction(const early_destruction&) = delete;
  early_destruction& operator=(const early_destruction&) = delete;
  ~early_destruction() {
    if (early_) [[unlikely]]
      --this_thread().early_ends;
  }

 private:
  const bool early_;
};

// The messages for a task without a body.
inline constexpr const char* task_awaited_again = "a task was awaited that was moved from or awaited before";
inline constexpr const char* task_runs_once = "a task runs once: call the coroutine function again, or keep its result";

// Level debug, before a task is destroyed that has not ended. Fatal if a queue refers to it, or if it was never awaited
// and no exception is the reason.
void expect_droppable(const coroutine_header& task) noexcept;

// A reference is stored as a pointer. The result and the exception share their storage: at most one of them exists.
// With `forkable` false (an eager task) the promise does not test whether it is a forked child.
template <class T, bool forkable = true>
class task_promise_base : public task_chain {
 public:
  using result_type = T;
  using stored = std::conditional_t<
      std::is_void_v<T>, char,
      std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, std::remove_const_t<T>>>;
  static_assert(alignof(stored) <= 2 * sizeof(void*),
                "hocket: an over-aligned result would be misaligned in a coroutine frame: return it through a "
                "std::unique_ptr, which aligns it");

  task_promise_base() noexcept {}
  ~task_promise_base() { clear(); }

  static std::suspend_always initial_suspend() noexcept { return {}; }

  // For a forked child, before it begins.
  void write_to(void* place) noexcept { place_ = place; }

  // By the frame. The final awaiter needs the address of the promise, so g++ would keep that address on the stack over
  // a call with `this`, and each resume would adjust the stack pointer.
  [[HOCKET_ALWAYS_INLINE]] void unhandled_exception() noexcept {
    threw(std::coroutine_handle<task_promise_base>::from_promise(*this));
  }

  // After the end: whether the parent has more to do than to take the result.
  bool ended_specially() const noexcept {
    return (reserved & (task_bit::error | task_bit::parent_queued | task_bit::ended_early)) != 0;
  }
  bool ended_early() const noexcept { return (reserved & task_bit::ended_early) != 0; }
  // After the end: whether there is an exception rather than a result.
  bool failed() const noexcept { return (reserved & task_bit::error) != 0; }
  std::exception_ptr& error() noexcept { return error_; }
  std::exception_ptr take_error() noexcept { return std::move(error_); }
  stored take_value() noexcept(std::is_nothrow_move_constructible_v<stored>) { return std::move(value_); }

  // Ends the suspended coroutine at its wait. Its frame and locals are destroyed after the parent has taken the result.
  // Returns the coroutine to resume.
  template <class... Args>
  handle end_here(Args&&... result) {
    store_early(std::forward<Args>(result)...);
    return this->end();
  }
  handle fail_here(std::exception_ptr error) noexcept {
    fail_early(std::move(error));
    return this->end();
  }

 protected:
  template <class... Args>
  void store_early(Args&&... args) {
    store(std::forward<Args>(args)...);
    reserved |= task_bit::ended_early;
  }
  void fail_early(std::exception_ptr error) noexcept {
    if (forked()) {
      this->fork_failed(place_, std::move(error));
      reserved = task_bit::ended_early;
      return;
    }
    clear();
    ::new (static_cast<void*>(std::addressof(error_))) std::exception_ptr(std::move(error));
    reserved = task_bit::error | task_bit::ended_early;
  }
  bool forked() const noexcept { return forkable && task_chain::forked(); }
  template <class... Args>
  void store(Args&&... args) {
    if (forked()) return fork_place<stored>::fill(place_, std::forward<Args>(args)...);
    ::new (static_cast<void*>(std::addressof(value_))) stored(std::forward<Args>(args)...);
    reserved = task_bit::value;
  }

 private:
  [[HOCKET_NOINLINE, HOCKET_COLD]] static void threw(std::coroutine_handle<> ended) noexcept {
    task_promise_base& self = with_header<task_promise_base>(ended).promise();
    if (self.forked()) return self.fork_failed(self.place_, std::current_exception());
    self.clear();
    ::new (static_cast<void*>(std::addressof(self.error_))) std::exception_ptr(std::current_exception());
    self.reserved = task_bit::error;
  }
  void clear() noexcept {
    if (reserved & task_bit::error) error_.~exception_ptr();
    if constexpr (!std::is_trivially_destructible_v<stored>) {
      if (reserved & task_bit::value) value_.~stored();
    }
    reserved = 0;
  }

  union {
    void* place_;  // of a forked child: the place of its result
    stored value_;
    std::exception_ptr error_;
  };
};

template <class T, bool forkable = true>
class task_promise : public task_promise_base<T, forkable> {
 public:
  template <class U = T>
    requires(std::is_constructible_v<T, U>)
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
    this->store(std::forward<U>(value));
  }
};

template <class T, bool forkable>
  requires std::is_reference_v<T>
class task_promise<T, forkable> : public task_promise_base<T, forkable> {
 public:
  void return_value(T value) noexcept { this->store(std::addressof(value)); }
};

template <bool forkable>
class task_promise<void, forkable> : public task_promise_base<void, forkable> {
 public:
  static void return_void() noexcept {}
};

}}}  // namespace hocket::detail
