// The common part of when_all, when_any and when_some: a group of awaitables that one coroutine waits for.
//
// Each child has its operand, an awaiter for it, and a frame. The frame has the interface of a coroutine handle, and
// its body is "take the result, count it". So a child allocates nothing, and its awaiter needs no coroutine. (In
// conforming mode a frame is a real coroutine.)
//
// The life of a group, in the parent
//   1. suspend() arms its wait, and links the group's stop source to the parent's: a stop of the parent stops the
//      children.
//   2. Each child begins, in order, under the group's context. An operation is awaited at once, and may complete here.
//      Some operands run code when they are awaited: their await_suspend returns a handle (a task, an adapter of a
//      task, a foreign coroutine). They do not begin here, because no code is resumed inline. The frame of the child is
//      posted, and the executor begins the operand from its queue.
//   3. The parent releases its share of the count. The thread that makes the count zero, the parent or the last child,
//      grants the parent's wait. Nothing else ends this wait: no child may outlive the group.
//   4. The parent is resumed, and finish() reads the outcomes.
// A child at its end stores its outcome, cancels the others if that decides the group, and releases its share.
//
// Late children. A child is granted its operation, and runs a turn later. If the group is decided in between, a child
// that can leave its result (leaves_result: the result of a join, the value of a oneshot) does not take it, and counts
// as cancelled. So it takes its rank before its result.
//
// Attempts. A child that is an operation of one system call may make its call only if the group wants its result,
// because the data of a loser must stay in the kernel. The resumed child makes the call (core/wait/detail/attempt.hpp)
// under the mutex of the group, which excludes other ends and calls; a success takes its rank there. The executor of
// the parent resumes all children, so this mutex is contended only by a foreign thread that ends a child.
//
// After the decision (a child of when_all has failed, k children of when_some have ended, the parent was stopped) no
// further child begins: each child checks before it begins, a posted child when it is resumed. The other children are
// cancelled by the group's stop, and waited for. Nothing is removed from a queue: a posted child of a decided group
// discards its operand and ends.
//
// Hazards
//   - *A child outlives the group.* Prevented: a child touches nothing after it has released its share, and the parent
//     waits until then.
//   - *A child ends on another thread while others begin.* Prevented by the parent's share of the count.
//   - *Two children fail at once.* One compare-exchange decides the first.
//   - *A child unwinds (the parent was killed), and another child continues to wait.* Prevented: the children have a
//     context without a strand (core/context.hpp), so a child does not see the unwinding of another one.
#pragma once
#include <hocket/base/seam/delayed.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/context/seam/stop_link.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/foreign_wait.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/stand_in.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/coro/outcome.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class when_group;

// A child, as seen by the group and by its awaited operation.
struct when_frame : stand_in {
  using stand_in::stand_in;
  // header.continuation is queued for a child that runs code, until it begins.
  when_group* group = nullptr;
  static constexpr std::size_t unplaced = ~std::size_t{0};
  std::size_t rank = unplaced;  // the number of ends before its own
};

class when_group : private wait_source {
 public:
  // The number of ends that decides the group, or
  static constexpr std::size_t never = ~std::size_t{0};
  static constexpr std::size_t at_failure = never - 1;
  // A bit beside the number: a child makes attempts.
  static constexpr std::size_t beside_attempts = ~(never >> 1) >> 1;
  static constexpr std::size_t with_attempts(std::size_t enough) noexcept {
    return enough < at_failure ? enough | beside_attempts : enough;
  }

  // By a child that has ended, or will never begin. The parent may destroy the group at once.
  void ended(when_frame& child, outcome_kind kind) noexcept;

  // By a child that can leave its result, before it takes the result: whether the group wants it. The child has its
  // rank then.
  [[nodiscard]] bool wants(when_frame& child) noexcept;

  // See attempt_gate. For a child of a group that excludes concurrent attempts.
  bool excludes_attempts() const noexcept { return enough_ >= beside_attempts && enough_ < at_failure; }
  [[nodiscard]] bool enter_attempt() noexcept;
  void leave_attempt(when_frame& child, bool succeeded) noexcept;

  // In the catch (...) of a child: logs its exception (set_log_handler) if the group is decided without this child,
  // unless the exception is a time-out.
  void report_lost_exception(when_frame& child) noexcept;

  context& parent_context() const noexcept { return *context_; }

  // Whether the group is decided, so that no further child begins; whether it was killed.
  bool decided() const noexcept { return stop_.requested() != stop_level::none; }
  bool killed() const noexcept { return stop_.killed(); }

 protected:
  when_group(std::size_t enough, const wait_options& options) noexcept : enough_(enough), options_(options) {}
  when_group(const when_group&) = delete;
  when_group& operator=(const when_group&) = delete;
  ~when_group() = default;

  // By the parent. `begin_all` begins all children. False: they have ended already. Throws bad_alloc, before any child
  // has begun.
  bool suspend(std::coroutine_handle<> parent, std::size_t children, void (*begin_all)(when_group& self) noexcept);
  void finish();  // unwinds a killed parent, if the kill ended a child without a result

  const when_frame* first_failure() const noexcept {
    // ORDER: relaxed, pairs with nothing: the grant of the wait orders it after the ends of the children.
    return failed_.load(std::memory_order_relaxed);
  }

 private:
  const char* what() const noexcept override { return "a group of awaitables"; }
  bool detach(waiter&) noexcept override { return false; }  // no other party ends this wait
  void pass_on(waiter&) noexcept override {}
  std::size_t needed() const noexcept { return enough_ & ~beside_attempts; }  // unless `enough` is never or at_failure
  void take_place(when_frame& child) noexcept;
  void leave() noexcept;

  stop_source stop_;
  delayed<stop_link> link_;
  suspension wait_;
  waiter entry_;
  const std::size_t enough_;
  const wait_options options_;
  context_ptr context_;             // the children's; coroutines that they spawned may retain it
  atomic<bool> lost_{false};        // a child was killed
  thread_mutex mutex_;              // if attempts are exclusive: guards the ranks and the current attempt
  atomic<std::size_t> pending_{0};  // children that have not ended, plus the parent's share
  atomic<std::size_t> ended_{0};    // counted if the order matters
  atomic<when_frame*> failed_{nullptr};
};

// Whether the exception is the time-out of a wait.
[[nodiscard]] bool is_time_out(const std::exception_ptr& error) noexcept;

// The gate of a child's attempts.
class when_gate final : public attempt_gate {
 public:
  void open(when_frame& child) noexcept { child_ = &child; }
  bool enter() noexcept override { return child_->group->enter_attempt(); }
  void leave(bool succeeded) noexcept override { child_->group->leave_attempt(*child_, succeeded); }

 private:
  when_frame* child_ = nullptr;
};
struct no_gate {};

// The operand that a child awaits. An operation becomes an arm (arm_of_t).
template <class A>
struct when_operand {
  using type = A;
  static A&& make(A&& operand) noexcept { return std::forward<A>(operand); }
};
template <class Op, class Options>
  requires(!std::same_as<arm_of_t<Op>, Op>)
struct when_operand<operation<Op, Options>> {
  using type = operation<arm_of_t<Op>, Options>;
  static type make(operation<Op, Options>&& operand) noexcept {
    const Options options = operand.options();
    return type(std::in_place, options, std::move(operand).unwrap());
  }
};

// The value of a child: T of result<T>, else the awaited value.
template <class R>
struct when_value {
  using type = R;
};
template <class R>
  requires is_result<std::remove_cvref_t<R>>
struct when_value<R> {
  using type = typename std::remove_cvref_t<R>::value_type;
};
template <class R>
  requires std::is_rvalue_reference_v<R> && (!is_result<std::remove_cvref_t<R>>)
struct when_value<R> {
  using type = std::remove_cvref_t<R>;
};

// `A` is an object, which the child owns, or an lvalue reference.
template <class A>
class when_child : private when_frame {
 public:
  using operand = typename when_operand<A>::type;
  using awaited = await_result_t<A&&>;
  using value = typename when_value<awaited>::type;
  static constexpr bool yields_result = is_result<std::remove_cvref_t<awaited>>;
  static constexpr bool makes_attempts =
      requires(typename way_to_await<operand>::awaiter& awaiter, when_gate& gate) { awaiter.set_gate(gate); };
  static constexpr bool has_begun = requires { std::remove_cvref_t<A>::begins_when_called; };

  explicit when_child(A&& awaitable)
      : when_frame(first_run()),
        operand_(when_operand<A>::make(std::forward<A>(awaitable))),
        awaiter_(way_to_await<operand>::begin(std::forward<operand>(operand_))) {}
  when_child(const when_child&) = delete;
  when_child& operator=(const when_child&) = delete;
  ~when_child() { give_up(); }

  void begin(when_group& owner) noexcept {
    group = &owner;
    header.ctx = &owner.parent_context();
    if constexpr (makes_attempts) {
      gate_.open(*this);
      if (group->excludes_attempts()) awaiter_.set_gate(gate_);
    }
    if (is_too_late()) return skip();
    try {
      if constexpr (runs_code) return begin_later();
      else if (!awaiter_.await_ready() && suspends()) return;
    } catch (...) {
      return fail();
    }
    take();
  }

  outcome<value>& result() noexcept { return outcome_; }
  std::size_t place() const noexcept { return rank; }
  bool is_frame(const when_frame* frame) const noexcept { return frame == this; }

 private:
  using answer = decltype(std::declval<typename way_to_await<operand>::awaiter&>().await_suspend(
      std::declval<std::coroutine_handle<migratable_header>>()));
  static constexpr bool runs_code = !is_plain_answer<answer>;

  bool is_too_late() const noexcept { return !has_begun && group->decided(); }

  // True: the child waits, or has ended and may be destroyed already.
  bool suspends() {
    const auto self = open(*this);
    try {
      if constexpr (std::is_void_v<answer>) {
        awaiter_.await_suspend(self);
        return true;
      } else {
        if (awaiter_.await_suspend(self)) return true;
        close(self);
        return false;
      }
    } catch (...) {
      close(self);
      throw;
    }
  }

  // Posts the frame, not the operand, so that the child checks the group again before the operand runs.
  void begin_later() {
    header.continuation = {nullptr, open(*this), current_executor()};
    hocket::detail::post(header.continuation);
  }
  static constexpr continuation first_run() noexcept {
    if constexpr (runs_code) return &when_child::turn_has_come;
    else return &when_child::resumed;
  }
  static std::coroutine_handle<> turn_has_come(stand_in& self) noexcept {
    return static_cast<when_child&>(self).begin_in_turn();
  }
  // Returns the coroutine to run; null: none.
  std::coroutine_handle<> begin_in_turn() noexcept {
    go_on = &when_child::resumed;
    header.continuation.handle = nullptr;
    this_thread().ctx = header.ctx;
    if (is_too_late()) [[unlikely]] {
      skip();
      return nullptr;
    }
    try {
      if (!awaiter_.await_ready()) return start();
    } catch (...) {
      fail();
      return nullptr;
    }
    take();
    return nullptr;
  }
  std::coroutine_handle<> start() {
    header.budget = transfer_budget;  // a fresh stack
    const auto self = open(*this);
    try {
      return awaiter_.await_suspend(self);
    } catch (...) {
      close(self);
      throw;
    }
  }

  static std::coroutine_handle<> resumed(stand_in& self) noexcept {
    static_cast<when_child&>(self).take();
    return nullptr;
  }
  void take() noexcept {
    if constexpr (leaves_result<typename way_to_await<operand>::awaiter>) {
      if (!group->wants(*this) && awaiter_.leave_result()) return end_stopped();
    }
    try {
      settle();
    } catch (...) {
      return fail();
    }
    group->ended(*this, outcome_.kind());
  }
  void settle() {
    if constexpr (yields_result) {
      auto result = awaiter_.await_resume();
      if (!result) outcome_.set_error(result.error());
      else if constexpr (std::is_void_v<value>) outcome_.set_value();
      else outcome_.set_value(*std::move(result));
    } else if constexpr (std::is_void_v<awaited>) {
      awaiter_.await_resume();
      outcome_.set_value();
    } else {
      outcome_.set_value(awaiter_.await_resume());
    }
  }
  void fail() noexcept {  // in a catch (...)
    try {
      throw;
    } catch (const forced_unwind&) {
      outcome_.set_killed();
    } catch (const hocket::cancelled&) {
      outcome_.set_cancelled();
    } catch (...) {
      outcome_.set_exception(std::current_exception());
      group->report_lost_exception(*this);
    }
    group->ended(*this, outcome_.kind());
  }
  void skip() noexcept {
    give_up();
    end_stopped();
  }
  void end_stopped() noexcept {
    if (group->killed()) outcome_.set_killed();
    else outcome_.set_cancelled();
    group->ended(*this, outcome_.kind());
  }
  // Discards the operand: a task that has not begun is not reported as forgotten.
  void give_up() noexcept { give_up_awaitable<operand>(operand_); }

  operand operand_;
  typename way_to_await<operand>::awaiter awaiter_;
  [[no_unique_address]] std::conditional_t<makes_attempts, when_gate, no_gate> gate_;
  outcome<value> outcome_;
};

}}}  // namespace hocket::detail
