// scope: coroutines that end before a block ends.
//
//   scope all;                                     // in a fiber: joined at the brace, even when something is thrown
//   auto total = spawn(all, sum, std::ref(in));
//   spawn(all, feed, std::ref(out), 100);
//
//   task<int> both(client& c) {                    // in a task, whose destructors cannot wait
//     auto body = [&](scope& all) -> task<int> { auto h = spawn(all, fetch, std::ref(c)); co_return co_await h; };
//     co_return co_await in_scope(body);           // the body first, then its children have ended
//   }
//
// Guarantees.
//   - join(), in_scope() and the destructor wait for every child, including children that children spawn meanwhile.
//     When all have ended but daemons (core/spawn/seam/daemon_group.hpp), they cancel the daemons, and wait for them,
//     too.
//   - Children run on the executor of the code that makes the scope (of the target, in scope{target}), under the
//     context of that code: a stop or a deadline of the parent also applies to the children.
//   - cancel() and kill() end only the children. If another thread ends the children in this way, joining also waits
//     until its call has returned.
//   - If an exception runs the destructor, the destructor cancels the children first.
//
// Cancellation. A join cannot be cancelled, timed or selected. A stop of the parent stops the children, which lets the
// join end.
//
// Errors. If no handle receives the exception of a child, the exception goes to the on_unhandled of the parent.
// Exception: while an exception ends the scope, unreceived exceptions of children are dropped.
//
// Do not.
//   - If a task leaves a scope that has children, that is fatal, because its destructors cannot wait. Prevented by
//     in_scope().
//   - If a plain thread leaves a scope, the thread blocks until the children have ended. Its scope needs a target:
//     scope{lp}, where another thread must be running lp.
//
// Thread safety. A scope belongs to the code that made it. Its children may spawn on it, too. So may any thread, while
// the thread knows that a child runs.
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/core/context/seam/stop_link.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/coro/task.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class scoped_end;
}  // namespace detail

// Options for scope.
struct scope_options {
  literal_name name{};                // for children without a name of their own
  duration within = duration::max();  // a deadline for every wait of every child, from construction
};
static_assert(detail::owns_nothing<scope_options>);

// A group of child coroutines; see above.
class scope final : public spawn_target, private primitive::wait_source {
 public:
  explicit scope(const scope_options& options = {}, std::source_location location = std::source_location::current());
  explicit scope(spawn_target& target, const scope_options& options = {},
                 std::source_location location = std::source_location::current());
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  // Requests a stop of every present and future child, or unwinds each of them. Any thread that knows that the scope
  // exists at the call, for example because a child runs. All children may end during the call: join() and the
  // destructor wait until it has returned.
  void cancel() noexcept { request(stop_level::cancel); }
  void kill() noexcept { request(stop_level::kill); }

  // The number of children that have not ended. A cancel() or kill() in progress counts as one child. Any thread.
  std::size_t size() const noexcept;

 private:
  class join_operation {
   public:
    using value_type = void;
    static constexpr bool uninterruptible = true;
    explicit join_operation(scope& joined) noexcept : scope_(&joined) {}
    bool try_now() noexcept { return scope_->size() == 0; }
    void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { scope_->begin_join(wait, entry); }
    result<void> take() noexcept { return {}; }

   private:
    scope* scope_;
  };

 public:
  // Waits until every child has ended; see above. The scope may be used again afterwards.
  [[nodiscard]] detail::limited_operation<join_operation> join(call_site site = this_call_site()) noexcept {
    return primitive::operation<join_operation>(std::in_place, site, *this).ignoring(stop_level::kill);
  }

  executor& home() noexcept override { return home_; }
  context& parent_context() noexcept override { return *context_; }
  std::error_code enroll(std::size_t count) noexcept override;
  void leave() noexcept override;
  spawn_target& daemons() override;
  std::error_code enroll_daemons(std::size_t count, bool are_children) noexcept override;
  void leave_daemon() noexcept override;
  unhandled_handler on_unhandled() const noexcept override;
  bool runs_by_itself() const noexcept override { return target_ && target_->runs_by_itself(); }

 private:
  scope(executor& home, spawn_target* target, const scope_options& options, std::source_location location);
  void begin_join(primitive::suspension& wait, primitive::waiter& entry) noexcept;
  void request(stop_level level) noexcept;
  void release_shares(std::size_t count) noexcept;
  void release_daemons(std::uint64_t shares) noexcept;
  std::uint64_t share_for_request() noexcept;
  void cancel_daemons() noexcept;
  void leave_joined() noexcept;
  friend class detail::scoped_end;
  void fail() noexcept;  // an exception ends the scope
  const char* what() const noexcept override { return "the children of a scope"; }
  bool detach(primitive::waiter&) noexcept override { return false; }  // nothing else ends a join
  void pass_on(primitive::waiter&) noexcept override {}

  const detail::stack_pin pin_{this, "a scope"};
  executor& home_;
  spawn_target* const target_;  // also counts the children, and handles unreceived exceptions; null: no target
  const int exceptions_;        // in flight at construction
  primitive::atomic<bool> failing_{false};
  stop_source stop_;
  context_ptr context_;
  std::optional<detail::stop_link> link_;         // to the stop of the code that made the scope
  std::optional<detail::stop_link> target_link_;  // to the stop of the target, if that is another target
  detail::daemon_slot daemons_;
  primitive::waiter* joiner_ = nullptr;  // written before the scope's own share of count_ is released

  // See scope.cpp.
  static constexpr std::uint64_t one_child = 1, pinned = std::uint64_t{1} << 30, own = std::uint64_t{1} << 31;
  static constexpr std::uint64_t one_daemon = std::uint64_t{1} << 32, watched = std::uint64_t{1} << 63;
  static constexpr std::uint64_t children_bits = pinned - 1, daemon_bits = watched - one_daemon;
  primitive::atomic<std::uint64_t> count_{own};
};

namespace detail {

// Holds the exception of a body until the children have ended.
class scoped_end {
 public:
  explicit scoped_end(scope& children) noexcept : children_(children) {}
  void fail() noexcept {  // in a catch (...)
    error_ = std::current_exception();
    children_.fail();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  scope& children_;
  std::exception_ptr error_;
};

template <class F>
using scoped_task = std::invoke_result_t<F&, scope&>;

}  // namespace detail

// Runs `body(scope&)`, which returns a task, and then waits for the children. `body` is a named callable, because it
// must outlive the call, and because g++ 11 and 12 destroy the captures of a temporary callable twice.
template <class F>
  requires detail::is_task<detail::scoped_task<F>>
detail::scoped_task<F> in_scope(F& body) {
  using T = typename detail::scoped_task<F>::value_type;
  scope children;
  detail::scoped_end end(children);
  if constexpr (std::is_void_v<T>) {
    try {
      co_await body(children);
    } catch (...) {
      end.fail();
    }
    static_cast<void>(co_await children.join());
    end.rethrow();
  } else {
    detail::return_slot<T> value;
    try {
      value.set_value(co_await body(children));
    } catch (...) {
      end.fail();
    }
    static_cast<void>(co_await children.join());
    end.rethrow();
    co_return value.take();
  }
}

template <class F>
  requires(!std::is_lvalue_reference_v<F>)
void in_scope(F&&) {
  static_assert(std::is_lvalue_reference_v<F>,
                "hocket: in_scope takes a named callable: auto body = [...](scope& all) -> task<> {...}; co_await "
                "in_scope(body);");
}

}}  // namespace hocket
