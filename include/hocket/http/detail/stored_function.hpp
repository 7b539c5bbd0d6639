// A function of the user with its arguments, which is called behind parameters that the library gives.
//
// The function and its arguments are stored as spawn stores them: by value, std::ref marks a reference, and a literal
// is converted to the parameter's type (core/spawn/detail/call_parameters.hpp).
//
// If the call makes a temporary of an argument, then the task that the function returns refers to a temporary that ends
// with the call. Prevented by start(): a coroutine makes the call and awaits the task in one expression.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

template <class F, class... Args>
class stored_function {
 public:
  template <class G, class... Given>
  explicit stored_function(std::in_place_t, G&& function, Given&&... args)
      : parts_(std::forward<G>(function), hocket::detail::to_store<Args>(std::forward<Given>(args))...) {}

  template <class... P>
  decltype(auto) operator()(P&&... parameters) const {
    return invoke(indices, parts_, std::forward<P>(parameters)...);
  }
  template <class... P>
  decltype(auto) operator()(P&&... parameters) {
    return invoke(indices, parts_, std::forward<P>(parameters)...);
  }

  // The task of the call. The parameters and this object outlive it.
  template <bool leaves_temporaries, class... P>
  auto start(P&... parameters) const {
    return start_in<leaves_temporaries>(parts_, parameters...);
  }
  template <bool leaves_temporaries, class... P>
  auto start(P&... parameters) {
    return start_in<leaves_temporaries>(parts_, parameters...);
  }
  // The task of the call with a parameter that the function takes over.
  template <bool leaves_temporaries, class P>
  auto start_with(P&& parameter) {
    using returned = decltype(invoke(indices, parts_, std::move(parameter)));
    if constexpr (leaves_temporaries)
      return await_with<typename returned::value_type>(indices, parts_, std::move(parameter));
    else return invoke(indices, parts_, std::move(parameter));
  }

 private:
  static constexpr std::index_sequence_for<Args...> indices{};

  template <std::size_t... I, class Parts, class... P>
  static decltype(auto) invoke(std::index_sequence<I...>, Parts& parts, P&&... parameters) {
    return std::get<0>(parts)(std::forward<P>(parameters)..., std::get<I + 1>(parts)...);
  }
  template <class T, std::size_t... I, class Parts, class... P>
  static task<T> await(std::index_sequence<I...>, Parts& parts, P&... parameters) {
    co_return co_await std::get<0>(parts)(parameters..., std::get<I + 1>(parts)...);
  }
  template <class T, std::size_t... I, class Parts, class P>
  static task<T> await_with(std::index_sequence<I...>, Parts& parts, P parameter) {
    co_return co_await std::get<0>(parts)(std::move(parameter), std::get<I + 1>(parts)...);
  }
  template <bool leaves_temporaries, class Parts, class... P>
  static auto start_in(Parts& parts, P&... parameters) {
    using returned = decltype(invoke(indices, parts, parameters...));
    if constexpr (leaves_temporaries) return await<typename returned::value_type>(indices, parts, parameters...);
    else return invoke(indices, parts, parameters...);
  }

  std::tuple<F, Args...> parts_;
};

template <class F, class Stored>
struct stored_function_of;
template <class F, class... Args>
struct stored_function_of<F, std::tuple<Args...>> {
  using type = stored_function<F, Args...>;
};

// A tuple without its first elements.
template <std::size_t skipped, class Tuple>
struct tuple_tail {
  using type = Tuple;
};
template <std::size_t skipped, class First, class... Rest>
  requires(skipped != 0)
struct tuple_tail<skipped, std::tuple<First, Rest...>> : tuple_tail<skipped - 1, std::tuple<Rest...>> {};

// The parameters that the library gives, before the stored arguments.
template <class... P>
struct given_first {};

// Whether a const F, or an F that is called once, can be called with the parameters and the stored arguments. A pointer
// to a member cannot be called in this way.
template <class Parameters, class F, class... Args>
inline constexpr bool is_callable_const = false;
template <class... P, class F, class... Args>
inline constexpr bool is_callable_const<given_first<P...>, F, Args...> =
    requires(const std::decay_t<F>& f, P... p, const std::decay_t<Args>&... args) { f(static_cast<P>(p)..., args...); };
template <class Parameters, class F, class... Args>
inline constexpr bool is_callable_once = false;
template <class... P, class F, class... Args>
inline constexpr bool is_callable_once<given_first<P...>, F, Args...> =
    requires(std::decay_t<F>& f, P... p, std::decay_t<Args>&... args) { f(static_cast<P>(p)..., args...); };

// The type of the stored function for an F with arguments. Requires that F can be called with them.
template <class Parameters, class F, class... Args>
struct stored_function_for;
template <class... P, class F, class... Args>
struct stored_function_for<given_first<P...>, F, Args...> {
  using call = hocket::detail::stored_call_of<std::decay_t<F>, P..., Args...>;
  using type =
      typename stored_function_of<std::decay_t<F>, typename tuple_tail<sizeof...(P), typename call::types>::type>::type;
  static constexpr bool leaves_temporaries = sizeof...(Args) != 0 && call::may_leave_temporaries;
};

}}}}  // namespace hocket::http::detail
