// then: an awaitable and what is done with what it gives, as one awaitable.
//
//   auto title = then(fetch(url), [](page p) { return p.title; });   // nothing has begun
//   std::string one = co_await std::move(title);                     // in a fiber and a thread: await(...)
//   auto both = co_await when_all(then(fetch(a), parse), then(fetch(b), parse));
//   then(within(1s, rx.receive()), [](result<int> n) { return n.value_or(0); });
//
// `f` gets what `co_await` gives: of a result<T> the result (or_throw unwraps one before), nothing where that is void.
// It runs where the awaiting coroutine goes on, once; in a group where that child ends, so it must not wait itself.
// What f throws is thrown by the await; if the awaitable throws, f is not called. What f returns is awaited, if that
// can be: f may be a coroutine.
//
//   auto stored = then(fetch(url), [](page p) -> task<> { co_await store(std::move(p)); });
//
// f is kept until its end, or the end of what it has returned, with all that it has captured; and so is what a
// reference parameter of f refers to. An lvalue awaitable is referred to, an rvalue moved in; so is f, always by value.
//
// Cost. Nothing is allocated: f is called by the awaiter. Where f returns an awaitable, `then` gives a task, whose
// frame keeps the three.
//
// g++ 11 and 12 destroy the captures of a temporary lambda twice where it stands in an expression with co_await
// (docs/traps/temporaries.md). Name the continuation first, as above, where f has captures with destructors.
#pragma once
#include <hocket/coro/detail/kept_awaitable.hpp>
#include <hocket/coro/task.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// What f returns when it is given a T.
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

// The awaiter of `A` (an lvalue or an rvalue reference), with what f makes of the result.
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

// One expression calls f and awaits what it returns: a reference parameter of f may refer to a temporary. But for an
// aggregate, which g++ 11 and 12 would destroy twice.
template <class T, class A, class F>
task<T> then_await(kept_awaitable<A> what, F f) {
  constexpr bool apart = std::is_aggregate_v<std::remove_cvref_t<continued_t<F, A>>>;
  if constexpr (std::is_void_v<await_result_t<A>>) {
    co_await what.get();
    if constexpr (apart) {
      auto next = std::move(f)();
      co_return co_await std::move(next);
    } else {
      co_return co_await std::move(f)();
    }
  } else {
    auto&& got = co_await what.get();
    if constexpr (apart) {
      auto next = std::move(f)(std::forward<decltype(got)>(got));
      co_return co_await std::move(next);
    } else {
      co_return co_await std::move(f)(std::forward<decltype(got)>(got));
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

template <awaitable A, class F>
  requires detail::continues<std::decay_t<F>, A>
[[nodiscard]] detail::then_adaptor<A, std::decay_t<F>> then(A&& a, F&& f) {
  return detail::then_adaptor<A, std::decay_t<F>>(std::forward<A>(a), std::forward<F>(f));
}
template <awaitable A, class F>
  requires detail::continues_awaiting<std::decay_t<F>, A>
[[nodiscard]] auto then(A&& a, F&& f) {
  using T = typename detail::sync_result<await_result_t<detail::continued_t<std::decay_t<F>, A>>>::type;
  return detail::then_await<T, A, std::decay_t<F>>(detail::kept_awaitable<A>(std::forward<A>(a)), std::forward<F>(f));
}

}}  // namespace hocket
