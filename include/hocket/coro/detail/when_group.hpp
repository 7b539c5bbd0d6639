// What when_all and its like have in common: a group of awaitables that one coroutine waits for.
//
// Each child is what was given, its awaiter, and a frame: something that can stand where a coroutine's handle is
// wanted, and whose body is "take the result, count it". So nothing is allocated per child, and an awaiter does not
// know that no coroutine waits for it. (In conforming mode a frame is a real coroutine.)
//
// The life of a group, on the parent's side:
//   1. suspend(): its wait is armed, and linked to the parent's stop: what stops the parent stops the children.
//   2. Each child starts, in order, under the group's context. An operation begins here: it is awaited, and one that is
//      possible at once ends here. Whatever runs code of its own when it is awaited (its await_suspend gives a handle:
//      a task, what is made of one, a foreign coroutine) does not begin here, since nobody resumes inline: the child's
//      frame is posted, and what it stands for is awaited when the executor comes to it.
//   3. The parent gives up its own share of the count. Whoever brings it to zero, the parent or the last child, grants
//      the parent's wait, which nothing else ends: children must not outlive the group.
//   4. go_on(): the parent runs again, and looks at what its children have left.
// On a child's side: settle its outcome; if that decides the group, cancel the others; give up its share.
//
// A child is granted what it waits for, and runs a turn later: the group may be decided in between. Then the child does
// not take what stays where it is otherwise (leaves_result: the result of a join, the value of a oneshot), and counts
// as cancelled. To know in time whether it comes too late, such a child takes its place before its result.
//
// An arm of I/O (a child that is an operation of one system call) may make its call only if the group wants its result:
// what a loser would have got stays where it is. The call is made when the child is resumed
// (core/wait/detail/attempt.hpp), under the mutex of the group, by which no other child ends or calls meanwhile; a
// success has its place then. All children are resumed by the executor of their parent, so they seldom wait for the
// mutex: only a foreign thread ends a child beside a call.
//
// Once a group is decided (a child of when_all has failed, k of when_some have ended, the parent was stopped), a child
// that has not begun never does: each child asks before it begins, the posted one when it comes out of the queue. The
// others are cancelled by the group's stop, and waited for. Nothing is taken out of a queue: a posted child that finds
// its group decided gives up what it was given, and ends.
//
// Hazards. *A child outlives the group*: it touches nothing after it has given up its share, and until then the parent
// waits. *A child ends on another thread while others still begin*: the parent's own share keeps the count up. *Two
// children fail at once*: one exchange says which came first. *A child is unwound (the parent was killed), and another
// one goes on to wait*: they have a context without a strand (core/context.hpp), so that the one is not told of the
// other.
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

// A child, as the group and as what it awaits see it.
struct when_frame : stand_in {
  using stand_in::stand_in;
  // header.continuation is what is queued of a child that runs code, until it begins.
  when_group* group = nullptr;
  static constexpr std::size_t unplaced = ~std::size_t{0};
  std::size_t rank = unplaced;  // how many had ended before it
};

class when_group : private wait_source {
 public:
  // How many must end for the group to be decided: a number, or
  static constexpr std::size_t never = ~std::size_t{0};
  static constexpr std::size_t at_failure = never - 1;
  // A bit beside a number: a child makes attempts.
  static constexpr std::size_t beside_attempts = ~(never >> 1) >> 1;
  static constexpr std::size_t with_attempts(std::size_t enough) noexcept {
    return enough < at_failure ? enough | beside_attempts : enough;
  }

  // By a child that has ended, or will never begin. The group may be gone afterwards.
  void ended(when_frame& child, outcome_kind how) noexcept;

  // By a child that could leave its result where it is, before it takes it: whether the group wants it. It has its
  // place then.
  [[nodiscard]] bool wants(when_frame& child) noexcept;

  // See attempt_gate. For a child of a group that excludes attempts beside each other.
  bool excludes_attempts() const noexcept { return enough_ >= beside_attempts && enough_ < at_failure; }
  [[nodiscard]] bool enter_attempt() noexcept;
  void leave_attempt(when_frame& child, bool succeeded) noexcept;

  // In the catch (...) of a child: a notice (set_log_handler) of what it threw, if that counts no more, and is not what
  // a stop or a deadline makes of a wait.
  void note_if_lost(when_frame& child) noexcept;

  context& parent_context() const noexcept { return *context_; }

  // Whether no more children are to begin, and why: cancelled, or killed.
  bool decided() const noexcept { return stop_.requested() != stop_level::none; }
  bool killed() const noexcept { return stop_.killed(); }

 protected:
  when_group(std::size_t enough, const wait_options& options) noexcept : enough_(enough), options_(options) {}
  when_group(const when_group&) = delete;
  when_group& operator=(const when_group&) = delete;
  ~when_group() = default;

  // The parent's. `begin_all` begins each of so many children. False: they have ended already. Throws bad_alloc, before
  // any has begun.
  bool suspend(std::coroutine_handle<> parent, std::size_t children, void (*begin_all)(when_group& self) noexcept);
  void go_on();  // throws what unwinds a parent that was killed, if it cost a child its result

  const when_frame* first_failure() const noexcept {
    // ORDER: relaxed, pairs with nothing: the children have ended, and the grant of the wait has told so.
    return failed_.load(std::memory_order_relaxed);
  }

 private:
  const char* what() const noexcept override { return "a group of awaitables"; }
  bool detach(waiter&) noexcept override { return false; }  // nothing else ends it
  void pass_on(waiter&) noexcept override {}
  std::size_t needed() const noexcept { return enough_ & ~beside_attempts; }  // if it is a number
  void take_place(when_frame& child) noexcept;
  void leave() noexcept;

  stop_source stop_;
  delayed<stop_link> link_;
  suspension wait_;
  waiter entry_;
  const std::size_t enough_;
  const wait_options options_;
  context_ptr context_;           // the children's; what they have made may keep it
  atomic<bool> lost_{false};      // a child was killed
  thread_mutex mutex_;            // if it excludes attempts: of the places, and of the attempt that is made
  atomic<std::size_t> left_{0};   // children that have not ended, and the parent's own share
  atomic<std::size_t> ended_{0};  // counted where order matters
  atomic<when_frame*> failed_{nullptr};
};

// Whether it is the time-out of a wait that became an exception.
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

// What a child awaits: the operation as an arm, if it was given an operation.
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

// What a child contributes: T of result<T>, else what it gives.
template <class R>
struct when_gives {
  using type = R;
};
template <class R>
  requires is_result<std::remove_cvref_t<R>>
struct when_gives<R> {
  using type = typename std::remove_cvref_t<R>::value_type;
};
template <class R>
  requires std::is_rvalue_reference_v<R> && (!is_result<std::remove_cvref_t<R>>)
struct when_gives<R> {
  using type = std::remove_cvref_t<R>;
};

// `A` is an object, which the child owns, or an lvalue reference.
template <class A>
class when_child : private when_frame {
 public:
  using operand = typename when_operand<A>::type;
  using given = await_result_t<A&&>;
  using value = typename when_gives<given>::type;
  static constexpr bool gives_result = is_result<std::remove_cvref_t<given>>;
  static constexpr bool makes_attempts =
      requires(typename way_to_await<operand>::awaiter& awaiter, when_gate& gate) { awaiter.set_gate(gate); };
  static constexpr bool has_begun = requires { std::remove_cvref_t<A>::begins_when_called; };

  explicit when_child(A&& what)
      : when_frame(first_run()),
        what_(when_operand<A>::make(std::forward<A>(what))),
        awaiter_(way_to_await<operand>::begin(std::forward<operand>(what_))) {}
  when_child(const when_child&) = delete;
  when_child& operator=(const when_child&) = delete;
  ~when_child() { give_up(); }

  void begin(when_group& of) noexcept {
    group = &of;
    header.ctx = &of.parent_context();
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
  bool is(const when_frame* one) const noexcept { return one == this; }

 private:
  using answer = decltype(std::declval<typename way_to_await<operand>::awaiter&>().await_suspend(
      std::declval<std::coroutine_handle<migratable_header>>()));
  static constexpr bool runs_code = !is_plain_answer<answer>;

  bool is_too_late() const noexcept { return !has_begun && group->decided(); }

  // True: it waits, and may have ended and be gone by now.
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

  // What is in the queue is the frame, so that the group is asked again before anything runs.
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
  // Gives what is to run; null for nothing.
  std::coroutine_handle<> begin_in_turn() noexcept {
    go_on = &when_child::resumed;
    header.continuation.handle = nullptr;
    this_thread().ctx = header.ctx;
    if (is_too_late()) [[unlikely]]
      return skip(), nullptr;
    try {
      if (!awaiter_.await_ready()) return start();
    } catch (...) {
      return fail(), nullptr;
    }
    take();
    return nullptr;
  }
  std::coroutine_handle<> start() {
    header.budget = transfer_budget;  // the stack has just begun
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
    if constexpr (gives_result) {
      auto got = awaiter_.await_resume();
      if (!got) outcome_.set_error(got.error());
      else if constexpr (std::is_void_v<value>) outcome_.set_value();
      else outcome_.set_value(*std::move(got));
    } else if constexpr (std::is_void_v<given>) {
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
      group->note_if_lost(*this);
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
  // A task that was not begun is not forgotten.
  void give_up() noexcept { give_up_awaitable<operand>(what_); }

  operand what_;
  typename way_to_await<operand>::awaiter awaiter_;
  [[no_unique_address]] std::conditional_t<makes_attempts, when_gate, no_gate> gate_;
  outcome<value> outcome_;
};

}}}  // namespace hocket::detail
