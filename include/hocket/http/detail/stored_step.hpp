// Steps (handler.hpp) that call a function of the user with stored arguments.
//
// The function and its arguments are stored as spawn stores them: by value, std::ref marks a reference, and a literal is
// converted to the parameter's type (core/spawn/detail/call_parameters.hpp). All requests share them, so they are const.
//
// If the call makes a temporary of an argument, then the task of the function refers to a temporary that ends with the
// call. Prevented by a coroutine that makes the call and awaits the task in one expression.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/http/detail/handler.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// The results that a function of a step may return, apart from its task.
template <class R, class T>
inline constexpr bool is_result_of_step =
    std::is_same_v<R, T> || std::is_same_v<R, result<T>> ||
    (!std::is_same_v<T, response> && (std::is_void_v<R> || std::is_same_v<R, result<void>>));
template <class R, class T>
inline constexpr bool is_task_of_step = false;
template <class R, class T>
inline constexpr bool is_task_of_step<task<R>, T> = is_result_of_step<R, T>;

// The result of `call()`, as a step gives it. A function without a result continues the chain.
template <class T, class Call>
result<T> result_of_call(Call&& call) {
  using returned = std::invoke_result_t<Call&>;
  if constexpr (std::is_same_v<returned, result<T>>) {
    return call();
  } else if constexpr (std::is_same_v<returned, result<void>>) {
    if (result<void> done = call(); !done) return failure(done.error());
    return result<T>(std::in_place);
  } else if constexpr (std::is_void_v<returned>) {
    call();
    return result<T>();
  } else {
    return result<T>(std::in_place, call());
  }
}

// A function of the user with its arguments.
template <class F, class... Args>
class stored_function {
 public:
  template <class G, class... Given>
  explicit stored_function(std::in_place_t, G&& function, Given&&... args)
      : parts_(std::forward<G>(function), hocket::detail::to_store<Args>(std::forward<Given>(args))...) {}

  template <class... P>
  decltype(auto) operator()(P&... parameters) const {
    return std::apply(
        [&](const F& function, const Args&... args) -> decltype(auto) { return function(parameters..., args...); },
        parts_);
  }

 private:
  std::tuple<F, Args...> parts_;
};

template <class Step, class Function>
class plain_step;
template <class T, class... P, class Function>
class plain_step<step<T, P...>, Function> final : public step<T, P...> {
 public:
  template <class... Given>
  explicit plain_step(Given&&... given)
      : step<T, P...>(step_kind::plain), function_(std::in_place, std::forward<Given>(given)...) {}

  result<T> call(P... parameters) const override {
    return result_of_call<T>([&]() -> decltype(auto) { return function_(parameters...); });
  }
  task<result<T>> start(P...) const override { report_wrong_step(); }

 private:
  const Function function_;
};

// `leaves_temporaries`: the call and the await are one expression.
template <class Step, class Function, bool leaves_temporaries>
class task_step;
template <class T, class... P, class Function, bool leaves_temporaries>
class task_step<step<T, P...>, Function, leaves_temporaries> final : public step<T, P...> {
 public:
  template <class... Given>
  explicit task_step(Given&&... given)
      : step<T, P...>(step_kind::task), function_(std::in_place, std::forward<Given>(given)...) {}

  result<T> call(P...) const override { report_wrong_step(); }
  task<result<T>> start(P... parameters) const override {
    using returned = std::invoke_result_t<const Function&, P...>;
    if constexpr (std::is_same_v<returned, task<result<T>>> && !leaves_temporaries) return function_(parameters...);
    else return await_call(parameters...);
  }

 private:
  task<result<T>> await_call(P... parameters) const {
    using value = typename std::invoke_result_t<const Function&, P...>::value_type;
    if constexpr (std::is_same_v<value, result<T>>) {
      co_return co_await function_(parameters...);
    } else if constexpr (std::is_same_v<value, result<void>>) {
      result<void> done = co_await function_(parameters...);
      if (!done) co_return failure(done.error());
      co_return result<T>(std::in_place);
    } else if constexpr (std::is_void_v<value>) {
      co_await function_(parameters...);
      co_return result<T>();
    } else {
      co_return result<T>(std::in_place, co_await function_(parameters...));
    }
  }

  const Function function_;
};

// The fiber is a child of a scope: it has the stop and the deadline of the connection's coroutine, and ends before the
// task, so the request outlives it.
template <class Step, class Function>
class fiber_step;
template <class T, class... P, class Function>
class fiber_step<step<T, P...>, Function> final : public step<T, P...> {
 public:
  template <class... Given>
  explicit fiber_step(const spawn_options& options, Given&&... given)
      : step<T, P...>(step_kind::fiber), options_(options), function_(std::in_place, std::forward<Given>(given)...) {}

  result<T> call(P...) const override { report_wrong_step(); }
  task<result<T>> start(P... parameters) const override {
    auto run = [&parameters..., this] {
      return result_of_call<T>([&]() -> decltype(auto) { return function_(parameters...); });
    };
    auto body = [&run, this](scope& children) -> task<result<T>> {
      auto fiber = spawn(children, options_, run);
      co_return co_await fiber;
    };
    co_return co_await in_scope(body);
  }

 private:
  const spawn_options options_;
  const Function function_;
};

// --- making a step

template <class F, class Stored>
struct stored_function_of;
template <class F, class... Args>
struct stored_function_of<F, std::tuple<Args...>> {
  using type = stored_function<F, Args...>;
};
template <std::size_t skipped, class Tuple>
struct tuple_tail {
  using type = Tuple;
};
template <std::size_t skipped, class First, class... Rest>
  requires(skipped != 0)
struct tuple_tail<skipped, std::tuple<First, Rest...>> : tuple_tail<skipped - 1, std::tuple<Rest...>> {};

// The call of an F by a step, with arguments that are given as Given.
template <class Step, class F, class... Given>
struct call_of_step;
template <class T, class... P, class F, class... Given>
struct call_of_step<step<T, P...>, F, Given...> {
  using function = std::decay_t<F>;
  // A pointer to a member is no callable of a step.
  static constexpr bool is_possible = requires(const function& f, P... p, const std::decay_t<Given>&... args) {
    f(p..., args...);
  };
};

template <class Step, class F, class... Given>
struct stored_call_of_step;
template <class T, class... P, class F, class... Given>
struct stored_call_of_step<step<T, P...>, F, Given...> {
  using call = hocket::detail::stored_call_of<std::decay_t<F>, P..., Given...>;
  using stored = typename tuple_tail<sizeof...(P), typename call::types>::type;
  using function = typename stored_function_of<std::decay_t<F>, stored>::type;
  using returned = std::remove_cvref_t<decltype(std::declval<const function&>()(std::declval<P>()...))>;
  static constexpr bool is_plain = is_result_of_step<returned, T>;
  static constexpr bool is_task = is_task_of_step<returned, T>;
  static constexpr bool leaves_temporaries = sizeof...(Given) != 0 && call::may_leave_temporaries;
};

template <class Step, class F, class... Given>
std::unique_ptr<Step> make_step(F&& function, Given&&... given) {
  using call = stored_call_of_step<Step, F, Given...>;
  if constexpr (call::is_plain) {
    return std::make_unique<plain_step<Step, typename call::function>>(std::forward<F>(function),
                                                                       std::forward<Given>(given)...);
  } else {
    using made = task_step<Step, typename call::function, call::leaves_temporaries>;
    return std::make_unique<made>(std::forward<F>(function), std::forward<Given>(given)...);
  }
}

template <class F, class... Given>
std::unique_ptr<handler> make_fiber_handler(const spawn_options& options, F&& function, Given&&... given) {
  using call = stored_call_of_step<handler, F, Given...>;
  return std::make_unique<fiber_step<handler, typename call::function>>(options, std::forward<F>(function),
                                                                        std::forward<Given>(given)...);
}

}}}}  // namespace hocket::http::detail
