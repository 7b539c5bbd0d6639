// The concepts behind `co_await x` and `await(x)`.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
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

// What the language calls after `operator co_await`. await_suspend must accept the erased handle: hocket's wakers
// know no promise types.
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

// The awaiter of an awaitable, as `co_await` finds it (without await_transform).
template <class A>
decltype(auto) get_awaiter(A&& a) {
  if constexpr (has_member_co_await<A>) return std::forward<A>(a).operator co_await();
  else if constexpr (has_free_co_await<A>) return operator co_await(std::forward<A>(a));
  else return std::forward<A>(a);
}

template <class A>
using awaiter_of = decltype(get_awaiter(std::declval<A>()));

}  // namespace detail

// Something that `co_await` and await() take.
template <class A>
concept awaitable = requires(A&& a) {
  requires requires(std::remove_reference_t<detail::awaiter_of<A>>& w) {
    { w.await_ready() } -> std::convertible_to<bool>;
    w.await_resume();
  };
};

// Base of the library's awaitables that lie in another namespace: so await(x), select(x, y) and within(1s, x) find the
// functions of hocket without `hocket::`. Two objects of one type cannot have one address, hence a base for each class.
template <class Self>
struct awaitable_base {};

namespace detail {

// Whether a callable that returns T starts a task when it is spawned; any other starts a fiber.
template <class T>
inline constexpr bool is_task = false;

// What a call gives that is only there for its message: it can be awaited, and becomes anything, so that no other
// message follows.
struct misused {
  template <class T>
  operator T() const {
    __builtin_unreachable();
  }
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  misused await_resume() const noexcept { return {}; }
};

// Base of hocket's own awaiters: they wake through runnables, so that no bridge is needed between them and a scheduler.
struct own_awaiter : awaitable_base<own_awaiter> {};

// The same for those that run a coroutine, which may know addresses of whoever awaits it: its arguments, say.
struct body_awaiter : own_awaiter {};

// The awaiters that may have a coroutine's handle itself.
template <class W>
concept trusted_awaiter = std::derived_from<std::remove_cvref_t<W>, own_awaiter> || is_task<std::remove_cvref_t<W>>;

// The awaiters whose result stays where it is until somebody takes it. leave_result() is called where await_resume()
// would be, by a caller that does not want the result any more: it can be awaited again. False: there is none (the wait
// was ended otherwise), and await_resume() is to be called.
template <class W>
concept leaves_result = !std::is_rvalue_reference_v<W> && requires(std::remove_reference_t<W>& w) {
  { w.leave_result() } noexcept -> std::same_as<bool>;
};

// An awaitable of ours that has another awaiter for tasks (core/detail/wait_room.hpp), and adaptors of such.
template <class A>
concept has_awaiter_in_task = requires(A&& a) { std::forward<A>(a).await_in_task(); };

// Where something is awaited: in a task, or anywhere.
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

// The awaiter of `A` (an lvalue or an rvalue reference), for those that make something else of its result.
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

// What was begun by nobody, and will be awaited by nobody any more, is given up, not forgotten: a task, an operation,
// or what owns such things. `A` is the type of what is given up: nothing is done for a reference.
template <class A>
void give_up_awaitable(std::remove_reference_t<A>& what) noexcept {
  if constexpr (std::is_reference_v<A>) static_cast<void>(what);
  else if constexpr (is_task<A>) std::move(what).discard();
  else if constexpr (requires { A::can_be_discarded; }) std::move(what).discard();
}

}  // namespace detail

// What awaiting it gives.
template <class A>
using await_result_t = decltype(std::declval<std::remove_reference_t<detail::awaiter_of<A>>&>().await_resume());

}}  // namespace hocket
