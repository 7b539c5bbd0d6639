// Joins an awaitable and a continuation of its result into one awaitable.
//
//   auto title = then(fetch(url), [](page p) { return p.title; });   // nothing has begun
//   std::string text = co_await std::move(title);                    // in a fiber and a thread: await(...)
//   auto both = co_await when_all(then(fetch(a), parse), then(fetch(b), parse));
//   then(within(1s, rx.receive()), [](result<int> n) { return n.value_or(0); });
//
// The continuation f.
//   - f gets the result of `co_await`: of a result<T> the whole result (or_throw unwraps a result before), and no
//     argument if the result is void.
//   - f runs once, where the awaiting coroutine resumes. In a group, f runs where that child ends, so f must not wait.
//   - If f returns an awaitable, it is awaited. So f may be a coroutine:
//
//   auto stored = then(fetch(url), [](page p) -> task<> { co_await store(std::move(p)); });
//
// Errors. The await throws the exception of f. If the awaitable throws, f is not called.
//
// Lifetime. f and its captures live until the end of f, or of the awaitable that f returned. So does the object that a
// reference parameter of f refers to. An lvalue awaitable is referred to, an rvalue is moved in. f is always stored by
// value.
//
// Cost. Nothing is allocated: the awaiter calls f. If f returns an awaitable, `then` is a task with one frame, which
// keeps the three.
//
// Do not. If a temporary lambda is in an expression with co_await, then g++ 11 and 12 destroy its captures twice
// (docs/traps/temporaries.md). Prevented by naming an f that has captures with destructors before the expression.
#pragma once
#include <hocket/coro/detail/kept_awaitable.hpp>
#include <hocket/coro/task.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The result of f for a T.
template <class F, class T>
struct continued {
  using type = std::invoke_result_t<F, T>;
};
template <class F>
struct continued<F, void> {
  using type = std::invoke_result_t<F>;
};
template <class F, class A>
using continued_t = typename continued<F, await_result_t<A>>::type;

template <class F, class A>
concept continues = requires { typename continued_t<F, A>; };
template <class F, class A>
concept continues_awaiting = continues<F, A> && awaitable<continued_t<F, A>>;

// The awaiter of `A` (an lvalue or an rvalue reference), which passes the result through f.
template <class A, class F, class Where = anywhere>
class continuing : public adapted_awaiter<A, Where> {
 public:
  continuing(A a, F& f) : adapted_awaiter<A, Where>(std::forward<A>(a)), f_(f) {}

  continued_t<F, A> await_resume() {
    if constexpr (std::is_void_v<await_result_t<A>>) {
      this->inner_.await_resume();
      return std::move(f_)();
    } else {
      return std::move(f_)(this->inner_.await_resume());
    }
  }

 private:
  F& f_;
};

// One expression calls f and awaits the returned awaitable, because a reference parameter of f may refer to a
// temporary. Exception: an aggregate, which g++ 11 and 12 would destroy twice.
template <class T, class A, class F>
task<T> then_await(kept_awaitable<A> awaited, F f) {
  constexpr bool apart = std::is_aggregate_v<std::remove_cvref_t<continued_t<F, A>>>;
  if constexpr (std::is_void_v<await_result_t<A>>) {
    co_await awaited.get();
    if constexpr (apart) {
      auto next = std::move(f)();
      co_return co_await std::move(next);
    } else {
      co_return co_await std::move(f)();
    }
  } else {
    auto&& value = co_await awaited.get();
    if constexpr (apart) {
      auto next = std::move(f)(std::forward<decltype(value)>(value));
      co_return co_await std::move(next);
    } else {
      co_return co_await std::move(f)(std::forward<decltype(value)>(value));
    }
  }
}

template <class A, class F>
class [[nodiscard("an operation does nothing until it is awaited")]] then_adaptor
    : public awaitable_base<then_adaptor<A, F>> {
 public:
  template <class G>
  then_adaptor(A&& a, G&& f) : awaited_(std::forward<A>(a)), f_(std::forward<G>(f)) {}
  const std::remove_reference_t<A>& awaited() const noexcept { return awaited_; }
  static constexpr bool can_be_discarded = true;
  void discard() && noexcept { give_up_awaitable<A>(awaited_); }
  continuing<A&&, F> operator co_await() && { return continuing<A&&, F>(std::forward<A>(awaited_), f_); }
  continuing<A&&, F, in_task> await_in_task() &&
    requires(has_awaiter_in_task<A>)
  {
    return continuing<A&&, F, in_task>(std::forward<A>(awaited_), f_);
  }

 private:
  A awaited_;  // a reference if `A` is one
  F f_;
};

}  // namespace detail

// An awaitable of f's result.
template <awaitable A, class F>
  requires detail::continues<std::decay_t<F>, A>
[[nodiscard]] detail::then_adaptor<A, std::decay_t<F>> then(A&& a, F&& f) {
  return detail::then_adaptor<A, std::decay_t<F>>(std::forward<A>(a), std::forward<F>(f));
}
// A task, if f returns an awaitable.
template <awaitable A, class F>
  requires detail::continues_awaiting<std::decay_t<F>, A>
[[nodiscard]] auto then(A&& a, F&& f) {
  using T = typename detail::sync_result<await_result_t<detail::continued_t<std::decay_t<F>, A>>>::type;
  return detail::then_await<T, A, std::decay_t<F>>(detail::kept_awaitable<A>(std::forward<A>(a)), std::forward<F>(f));
}

}}  // namespace hocket
