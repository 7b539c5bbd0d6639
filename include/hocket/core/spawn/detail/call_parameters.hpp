// The parameters of a callable, as far as its type shows them, and the stored types of arguments until the call.
//
//   task<page> fetch(const std::string& url);
//   spawn(lp, fetch, "https://example.org/");
//
// Hazard: if the pointer of a literal is stored, then the call makes a std::string of it that ends with the expression
// of the call, before the task runs whose parameter refers to it. A pointer to a buffer of the caller may also dangle
// by then. Prevented so:
//
//   - An argument that decays to a pointer, a number or another scalar is converted when it is stored, if the parameter
//     is a reference that would otherwise refer to a temporary. A pointer is also converted if the parameter is an
//     object of a class.
//   - Any other argument is stored as it is, because the converted object may refer to it (a std::string_view to a
//     std::string). If the parameter would then refer to a temporary, a coroutine makes the call and awaits the task in
//     the same expression, so the temporary lives until then (may_leave_temporaries).
//   - The same applies if the parameters are unknown, because the callable is overloaded or a template (a generic
//     lambda), or if a parameter has a default argument.
//
// The calls inside of a callable's operator() are out of reach: std::bind_front(fetch, "literal") stores a pointer and
// makes the std::string itself (docs/traps/arguments.md).
#pragma once
#include <hocket/core/frame_memory.hpp>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class... P>
struct parameters {};
struct unknown_parameters {};

template <class Signature>
struct parameters_of_signature {
  using type = unknown_parameters;
};
template <class R, class... P, bool N>
struct parameters_of_signature<R(P...) noexcept(N)> {
  using type = parameters<P...>;
};
template <class R, class... P, bool N>
struct parameters_of_signature<R(P...) const noexcept(N)> {
  using type = parameters<P...>;
};
template <class R, class... P, bool N>
struct parameters_of_signature<R(P...) & noexcept(N)> {
  using type = parameters<P...>;
};
template <class R, class... P, bool N>
struct parameters_of_signature<R(P...) const & noexcept(N)> {
  using type = parameters<P...>;
};
template <class R, class... P, bool N>
struct parameters_of_signature<R(P...) && noexcept(N)> {
  using type = parameters<P...>;
};

// The parameters of a function pointer, a pointer to a member function (without the object), or an object with one call
// operator.
template <class F>
struct parameters_of {
  using type = unknown_parameters;
};
template <class Signature>
struct parameters_of<Signature*> : parameters_of_signature<Signature> {};
template <class Signature, class C>
struct parameters_of<Signature C::*> : parameters_of_signature<Signature> {};
template <class F>
  requires requires { &F::operator(); }
struct parameters_of<F> : parameters_of<decltype(&F::operator())> {};

// Whether a parameter of type P refers to the stored D itself, or to the referent of a std::reference_wrapper. A
// reference to volatile binds to no temporary.
template <class P, class D>
constexpr bool binds_directly() noexcept {
  using T = std::remove_cvref_t<P>;
  if constexpr (!std::is_reference_v<P> || !std::is_object_v<T>) return true;
  else return std::is_same_v<T, D> || std::is_base_of_v<T, D> || std::is_convertible_v<D, const volatile T&>;
}

// The stored type of an argument G for a parameter P.
template <class P, class G>
struct stored_for {
  using decayed = std::decay_t<G>;
  using object = std::remove_cvref_t<P>;
  static constexpr bool is_converted =
      std::is_scalar_v<decayed> && std::is_convertible_v<decayed, object> && std::is_move_constructible_v<object> &&
      (!binds_directly<P, decayed>() || (std::is_pointer_v<decayed> && std::is_class_v<object>));
  using type = std::conditional_t<is_converted, object, decayed>;
  static constexpr bool leaves_temporary = !binds_directly<P, type>();
  static_assert(!leaves_temporary || fits_frame<object>,
                "hocket: an argument is converted to an over-aligned object, which no frame can keep: pass that object "
                "by std::unique_ptr, or let the parameter be what the argument is");
};

// The stored types of a call, and whether the call must be one expression with the await of its result.
template <class Parameters, class... Given>
struct stored_call {
  using types = std::tuple<std::decay_t<Given>...>;
  static constexpr bool may_leave_temporaries = sizeof...(Given) != 0;
};
template <class... P, class... Given>
  requires(sizeof...(P) == sizeof...(Given))
struct stored_call<parameters<P...>, Given...> {
  using types = std::tuple<typename stored_for<P, Given>::type...>;
  static constexpr bool may_leave_temporaries = (stored_for<P, Given>::leaves_temporary || ...);
};
// For a callable with default arguments.
template <class... P, class... Given>
  requires(sizeof...(P) > sizeof...(Given))
struct stored_call<parameters<P...>, Given...> {
  using types = std::tuple<std::decay_t<Given>...>;
  static constexpr bool may_leave_temporaries = (std::is_reference_v<P> || ...);
};

// The stored call of an F with these arguments. The first argument of a member function is the object.
template <class F, class... Given>
struct stored_call_of : stored_call<typename parameters_of<F>::type, Given...> {};
template <class Signature, class C, class Object, class... Given>
struct stored_call_of<Signature C::*, Object, Given...> {
  using rest = stored_call<typename parameters_of<Signature C::*>::type, Given...>;
  using types =
      decltype(std::tuple_cat(std::declval<std::tuple<std::decay_t<Object>>>(), std::declval<typename rest::types>()));
  static constexpr bool may_leave_temporaries = rest::may_leave_temporaries;
};

// An argument to store: itself, or converted implicitly, as the call would convert it.
template <class Stored, class G>
using to_be_stored = std::conditional_t<std::is_same_v<Stored, std::decay_t<G>>, G&&, Stored>;
template <class Stored, class G>
to_be_stored<Stored, G> to_store(G&& argument) {
  if constexpr (std::is_same_v<Stored, std::decay_t<G>>) return std::forward<G>(argument);
  else return static_cast<std::decay_t<G>>(argument);
}

}}}  // namespace hocket::detail
