// Steps (handler.hpp) that call a function of the user with stored arguments.
//
// All requests share the function and its arguments (stored_function.hpp), so they are const.
#pragma once
#include <hocket/coro/scope.hpp>
#include <hocket/http/detail/handler.hpp>
#include <hocket/http/detail/stored_function.hpp>
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

template <class Step, class Function>
class plain_step;
template <class T, class... P, class Function>
class plain_step<step<T, P...>, Function> final : public step<T, P...> {
 public:
  template <class... Args>
  explicit plain_step(Args&&... args)
      : step<T, P...>(step_kind::plain), function_(std::in_place, std::forward<Args>(args)...) {}

  result<T> call(P... parameters) const override {
    return result_of_call<T>([&]() -> decltype(auto) { return function_(parameters...); });
  }
  task<result<T>> start(P...) const override { report_wrong_step(); }

 private:
  const Function function_;
};

template <class Step, class Function, bool leaves_temporaries>
class task_step;
template <class T, class... P, class Function, bool leaves_temporaries>
class task_step<step<T, P...>, Function, leaves_temporaries> final : public step<T, P...> {
 public:
  template <class... Args>
  explicit task_step(Args&&... args)
      : step<T, P...>(step_kind::task), function_(std::in_place, std::forward<Args>(args)...) {}

  result<T> call(P...) const override { report_wrong_step(); }
  task<result<T>> start(P... parameters) const override {
    if constexpr (std::is_same_v<value, result<T>>) return function_.template start<leaves_temporaries>(parameters...);
    else return convert(parameters...);
  }

 private:
  using value = typename std::invoke_result_t<const Function&, P...>::value_type;

  // The result of a function that returns another type than the step.
  task<result<T>> convert(P... parameters) const {
    task<value> running = function_.template start<leaves_temporaries>(parameters...);
    if constexpr (std::is_same_v<value, result<void>>) {
      const result<void> done = co_await std::move(running);
      if (!done) co_return failure(done.error());
      if constexpr (std::is_void_v<T>) co_return {};
      else co_return T();
    } else if constexpr (std::is_void_v<value>) {
      co_await std::move(running);
      if constexpr (std::is_void_v<T>) co_return {};
      else co_return T();
    } else {
      co_return result<T>(std::in_place, co_await std::move(running));
    }
  }

  const Function function_;
};

// The result of a fiber, until its task takes it.
template <class T>
struct fiber_result {
  std::optional<result<T>> value;
  std::exception_ptr error;
};

// The fiber is a child of a scope, so it has the stop and the deadline of the connection's coroutine. The task waits
// for the end of the fiber in any case, also if the coroutine is cancelled or killed, because the fiber uses the
// request. The fiber leaves its exception to the task: nothing else would receive it.
template <class Step, class Function>
class fiber_step;
template <class T, class... P, class Function>
class fiber_step<step<T, P...>, Function> final : public step<T, P...> {
 public:
  template <class... Args>
  explicit fiber_step(const spawn_options& options, Args&&... args)
      : step<T, P...>(step_kind::fiber), options_(options), function_(std::in_place, std::forward<Args>(args)...) {}

  result<T> call(P...) const override { report_wrong_step(); }
  task<result<T>> start(P... parameters) const override {
    scope children;
    fiber_result<T> from_fiber;
    join_handle<> fiber = spawn(children, options_, fiber_call{this, &from_fiber, std::tuple<P...>(parameters...)});
    static_cast<void>(co_await children.join());
    if (from_fiber.error) std::rethrow_exception(from_fiber.error);
    if (from_fiber.value) co_return *std::move(from_fiber.value);
    const result<void> ended = co_await fiber.join();  // the fiber was killed, or could not begin
    co_return failure(ended ? make_error_code(hocket::errc::killed) : ended.error());
  }

 private:
  struct fiber_call {
    const fiber_step* self;
    fiber_result<T>* to;
    std::tuple<P...> parameters;

    void operator()() const {
      try {
        to->value.emplace(std::apply([this](P... each) { return self->invoke(each...); }, parameters));
      } catch (const hocket::detail::forced_unwind&) {
        throw;
      } catch (...) {
        to->error = std::current_exception();
      }
    }
  };
  result<T> invoke(P... parameters) const {
    return result_of_call<T>([&]() -> decltype(auto) { return function_(parameters...); });
  }

  const spawn_options options_;
  const Function function_;
};

// --- making a step

template <class Step>
struct parameters_of_step;
template <class T, class... P>
struct parameters_of_step<step<T, P...>> {
  using type = given_first<P...>;
  template <class Function>
  using returned = std::remove_cvref_t<std::invoke_result_t<const Function&, P...>>;
};

// Whether a const F can be called as the step, with stored arguments of these types.
template <class Step, class F, class... Args>
inline constexpr bool is_callable_as_step = is_callable_const<typename parameters_of_step<Step>::type, F, Args...>;

template <class Step, class F, class... Args>
struct stored_call_of_step : stored_function_for<typename parameters_of_step<Step>::type, F, Args...> {
  using function = typename stored_function_for<typename parameters_of_step<Step>::type, F, Args...>::type;
  using returned = typename parameters_of_step<Step>::template returned<function>;
  static constexpr bool is_plain = is_result_of_step<returned, typename Step::value_type>;
  static constexpr bool is_task = is_task_of_step<returned, typename Step::value_type>;
};

template <class Step, class F, class... Args>
std::unique_ptr<Step> make_step(F&& function, Args&&... args) {
  using call = stored_call_of_step<Step, F, Args...>;
  if constexpr (call::is_plain) {
    return std::make_unique<plain_step<Step, typename call::function>>(std::forward<F>(function),
                                                                       std::forward<Args>(args)...);
  } else {
    using stored = task_step<Step, typename call::function, call::leaves_temporaries>;
    return std::make_unique<stored>(std::forward<F>(function), std::forward<Args>(args)...);
  }
}

template <class F, class... Args>
std::unique_ptr<handler> make_fiber_handler(const spawn_options& options, F&& function, Args&&... args) {
  using call = stored_call_of_step<handler, F, Args...>;
  return std::make_unique<fiber_step<handler, typename call::function>>(options, std::forward<F>(function),
                                                                        std::forward<Args>(args)...);
}

}}}}  // namespace hocket::http::detail
