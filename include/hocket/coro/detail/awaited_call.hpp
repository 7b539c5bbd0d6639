// Calls a callable that returns a task, and awaits the task in the same expression: the temporaries that the call makes
// of its arguments live until the task has ended (core/spawn/detail/call_parameters.hpp).
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/coro/task.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The object of a call of a member function of C: the stored object, or its referent if it is a pointer or a wrapper.
template <class C, class Stored>
decltype(auto) object_of(Stored&& stored) {
  using object = std::remove_cvref_t<Stored>;
  if constexpr (std::is_base_of_v<C, object>) return std::forward<Stored>(stored);
  else if constexpr (requires { *std::forward<Stored>(stored); }) return *std::forward<Stored>(stored);
  else return stored.get();  // a std::reference_wrapper
}
template <class C, class Signature>
std::type_identity<C> class_of(Signature C::*);

// `Call` is a spawned_call, or a reference to a spawned_call that outlives the task.
template <class T, class Call, std::size_t... I>
task<T> await_plain_call(Call call, std::index_sequence<I...>) {
  auto& parts = call.parts();
  co_return co_await std::get<0>(std::move(parts))(std::get<I + 1>(std::move(parts))...);
}
template <class T, class Call, std::size_t... I>
task<T> await_member_call(Call call, std::index_sequence<0, I...>) {
  auto& parts = call.parts();
  using C = typename decltype(class_of(std::get<0>(parts)))::type;
  co_return co_await (object_of<C>(std::get<1>(std::move(parts))).*
                      std::get<0>(parts))(std::get<I + 1>(std::move(parts))...);
}
template <class Call>
auto await_call(Call&& call) {
  using stored = std::remove_reference_t<Call>;
  using T = typename stored::returned::value_type;
  constexpr std::make_index_sequence<stored::arguments> all;
  if constexpr (stored::calls_member) return await_member_call<T, Call>(std::forward<Call>(call), all);
  else return await_plain_call<T, Call>(std::forward<Call>(call), all);
}

}}}  // namespace hocket::detail
