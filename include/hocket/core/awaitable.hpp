// The concepts of operands of `co_await x` and `await(x)`.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <concepts>
#include <coroutine>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class T>
inline constexpr bool is_plain_answer = std::same_as<T, void> || std::same_as<T, bool>;
template <class T>
inline constexpr bool is_suspend_result = is_plain_answer<T>;
template <class Promise>
inline constexpr bool is_suspend_result<std::coroutine_handle<Promise>> = true;

// The awaiter that the language uses, after `operator co_await`. await_suspend must accept the erased handle, because
// hocket's wakers know no promise types.
template <class A>
concept awaiter = requires(A& a, std::coroutine_handle<> handle) {
  { a.await_ready() } -> std::convertible_to<bool>;
  a.await_resume();
  requires is_suspend_result<decltype(a.await_suspend(handle))>;
};

template <class A>
concept has_member_co_await = requires(A&& a) { std::forward<A>(a).operator co_await(); };
template <class A>
concept has_free_co_await = requires(A&& a) { operator co_await(std::forward<A>(a)); };

// Returns the awaiter of an awaitable, as `co_await` finds it (without await_transform).
template <class A>
decltype(auto) get_awaiter(A&& a) {
  if constexpr (has_member_co_await<A>) return std::forward<A>(a).operator co_await();
  else if constexpr (has_free_co_await<A>) return operator co_await(std::forward<A>(a));
  else return std::forward<A>(a);
}

template <class A>
using awaiter_of = decltype(get_awaiter(std::declval<A>()));

}  // namespace detail

// An operand of `co_await` and await().
template <class A>
concept awaitable = requires(A&& a) {
  requires requires(std::remove_reference_t<detail::awaiter_of<A>>& w) {
    { w.await_ready() } -> std::convertible_to<bool>;
    w.await_resume();
  };
};

// Base of the library's awaitables in other namespaces, so that await(x), select(x, y) and within(1s, x) find the
// functions of hocket without `hocket::`. Each class has a base of its own, because two objects of one type cannot
// share an address.
template <class Self>
struct awaitable_base {};

namespace detail {

// Whether spawning a callable that returns T starts a task. Any other callable starts a fiber.
template <class T>
inline constexpr bool is_task = false;

// The result of a call that compiles only to give its own error message. It can be awaited and converts to any type, so
// that no second message follows.
struct misused {
  template <class T>
  operator T() const {
    __builtin_unreachable();
  }
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  misused await_resume() const noexcept { return {}; }
};

// Base of hocket's own awaiters. They wake through runnables, so they need no bridge to a scheduler.
struct own_awaiter : awaitable_base<own_awaiter> {};

// Base of own awaiters that run a coroutine. It may hold addresses in the awaiting coroutine, for example its
// arguments.
struct body_awaiter : own_awaiter {};

// The awaiters that may receive a coroutine's own handle.
template <class W>
concept trusted_awaiter = std::derived_from<std::remove_cvref_t<W>, own_awaiter> || is_task<std::remove_cvref_t<W>>;

// The awaiters that keep their result until a caller takes it. A caller that no longer wants the result calls
// leave_result() instead of await_resume(); then the awaitable can be awaited again. False: there is no result, because
// the wait ended otherwise, and the caller must call await_resume().
template <class W>
concept leaves_result = !std::is_rvalue_reference_v<W> && requires(std::remove_reference_t<W>& w) {
  { w.leave_result() } noexcept -> std::same_as<bool>;
};

// An awaitable of hocket with another awaiter for tasks (core/wait/seam/wait_room.hpp), or an adaptor of one.
template <class A>
concept has_awaiter_in_task = requires(A&& a) { std::forward<A>(a).await_in_task(); };

// The place of an await: anywhere, or in a task.
struct anywhere {
  template <class A>
  static decltype(auto) begin(A&& a) {
    return get_awaiter(std::forward<A>(a));
  }
};
struct in_task {
  template <class A>
  static decltype(auto) begin(A&& a) {
    if constexpr (has_awaiter_in_task<A>) return std::forward<A>(a).await_in_task();
    else return get_awaiter(std::forward<A>(a));
  }
};
template <class A, class Where>
using awaiter_where = decltype(Where::begin(std::declval<A>()));

template <bool trusted>
struct awaiter_base {};
template <>
struct awaiter_base<true> : own_awaiter {};

// Base of awaiters that adapt the result of `A` (an lvalue or an rvalue reference).
template <class A, class Where = anywhere>
class adapted_awaiter : public awaiter_base<trusted_awaiter<awaiter_of<A>>> {
 public:
  adapted_awaiter(const adapted_awaiter&) = delete;
  adapted_awaiter& operator=(const adapted_awaiter&) = delete;

  decltype(auto) await_ready() { return inner_.await_ready(); }
  template <class Promise>
  decltype(auto) await_suspend(std::coroutine_handle<Promise> handle) {
    return inner_.await_suspend(handle);
  }
  bool leave_result() noexcept
    requires(leaves_result<awaiter_where<A, Where>>)
  {
    return inner_.leave_result();
  }

 protected:
  explicit adapted_awaiter(A a) : inner_(Where::begin(std::forward<A>(a))) {}
  ~adapted_awaiter() = default;

  awaiter_where<A, Where> inner_;
};

// Discards an awaitable that never began and will never be awaited: a task, an operation, or an owner of these. `A` is
// its type. A reference is left alone.
template <class A>
void give_up_awaitable(std::remove_reference_t<A>& a) noexcept {
  if constexpr (std::is_reference_v<A>) static_cast<void>(a);
  else if constexpr (is_task<A>) std::move(a).discard();
  else if constexpr (requires { A::can_be_discarded; }) std::move(a).discard();
}

}  // namespace detail

// The type of the result of awaiting an A.
template <class A>
using await_result_t = decltype(std::declval<std::remove_reference_t<detail::awaiter_of<A>>&>().await_resume());

}}  // namespace hocket
