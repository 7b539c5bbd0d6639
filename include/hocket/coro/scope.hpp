// scope: coroutines that do not outlive a block.
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
// What is spawned on a scope runs on the executor of the code that made the scope, under that code's context: a stop or
// a deadline of the parent is one of the children, too. cancel() and kill() end the children only.
//
// Joining waits for every child, those included that children spawn meanwhile. That wait cannot be cancelled, timed or
// selected: what stops the parent stops the children, which lets it end. The destructor cancels the children first if
// it runs because of an exception. On a plain thread it blocks (the scope needs a target then: scope{lp}, which another
// thread must be running). In a task it is fatal to leave a scope with children in it: that is what in_scope is for.
// A cancel() or kill() of another thread may be what ends the children: joining waits for its return, too.
//
// An exception of a child that nobody receives goes where the parent's would go. But while an exception ends the scope,
// that is the one that counts: those of children that nobody receives any more are dropped.
// A scope belongs to the code that made it. Its children may spawn on it, too, and any thread that knows that a child
// runs meanwhile.
#pragma once
#include <hocket/base/detail/literal_name.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/return_slot.hpp>
#include <hocket/core/detail/stack_pin.hpp>
#include <hocket/core/detail/stop_link.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/coro/task.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class scoped_end;
}  // namespace detail

// What may be said of a scope.
struct scope_options {
  literal_name name{};                // of children that have none of their own
  duration within = duration::max();  // a deadline for every wait of every child, counted from now
};
static_assert(detail::owns_nothing<scope_options>);

class scope final : public spawn_target, private primitive::wait_source {
 public:
  explicit scope(const scope_options& options = {}, std::source_location at = std::source_location::current());
  explicit scope(spawn_target& on, const scope_options& options = {},
                 std::source_location at = std::source_location::current());
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  // Any thread that knows the scope to be there when it calls: because a child runs, say. Asks every child to stop, or
  // unwinds every child; present and future ones. All children may end by it: join() and the destructor wait until it
  // has returned.
  void cancel() noexcept { request(stop_level::cancel); }
  void kill() noexcept { request(stop_level::kill); }

  // Children that have not ended; a cancel() or kill() under way counts as one. Any thread.
  std::size_t size() const noexcept;

 private:
  class join_operation {
   public:
    using value_type = void;
    static constexpr bool uninterruptible = true;
    explicit join_operation(scope& of) noexcept : of_(&of) {}
    bool try_now() noexcept { return of_->size() == 0; }
    void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { of_->begin_join(wait, entry); }
    result<void> take() noexcept { return {}; }

   private:
    scope* of_;
  };

 public:
  // Waits until no child is left; see above. The scope may be used again afterwards.
  [[nodiscard]] detail::limited_operation<join_operation> join(call_site at = this_call_site()) noexcept {
    return primitive::operation<join_operation>(std::in_place, at, *this).ignoring(stop_level::kill);
  }

  executor& home() noexcept override { return home_; }
  context& parent_context() noexcept override { return *context_; }
  std::error_code enroll(std::size_t count) noexcept override;
  void leave() noexcept override;
  unhandled_handler on_unhandled() const noexcept override;
  bool runs_by_itself() const noexcept override { return above_ && above_->runs_by_itself(); }

 private:
  scope(executor& home, spawn_target* above, const scope_options& options, std::source_location at);
  void begin_join(primitive::suspension& wait, primitive::waiter& entry) noexcept;
  void request(stop_level level) noexcept;
  void give_up(std::size_t share) noexcept;
  void leave_joined() noexcept;
  friend class detail::scoped_end;
  void fail() noexcept;  // an exception ends it
  const char* what() const noexcept override { return "the children of a scope"; }
  bool detach(primitive::waiter&) noexcept override { return false; }  // nothing else ends a join
  void pass_on(primitive::waiter&) noexcept override {}

  const detail::stack_pin pin_{this, "a scope"};
  executor& home_;
  spawn_target* const above_;  // counts the children, too, and handles what nobody receives; null: there is none
  const int exceptions_;       // in flight when it was made
  stop_source stop_;
  context_ptr context_;
  std::optional<detail::stop_link> link_;         // to what stops the code that made it
  std::optional<detail::stop_link> target_link_;  // and to what stops the target, where that is another
  primitive::atomic<bool> failing_{false};
  primitive::waiter* joiner_ = nullptr;  // written before the scope's own share of count_ is given up
  static constexpr std::size_t own = ~(~std::size_t{0} >> 1);
  // Children, requests under way, and while nobody joins the scope's own share: the top bit.
  primitive::atomic<std::size_t> count_{own};
};

namespace detail {

// A coroutine's children end before it goes on, whether its body returned or threw.
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

// Runs `body(scope&)`, which returns a task, and then waits for the children. `body` is a named callable: it outlives
// the call, and g++ 11 and 12 destroy the captures of a temporary one twice.
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
