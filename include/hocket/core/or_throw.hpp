// or_throw: awaits an operation and unwraps its result<T>: returns the value, or throws the error.
//
//   int n = co_await or_throw(rx.receive());         // in a fiber or a thread: await(or_throw(rx.receive()))
//
// Errors. throw_error() throws `cancelled` for std::errc::operation_canceled, std::system_error for any other error.
//
// or_throw takes every awaitable whose result is a result<T>: operations, selects, tasks, foreign awaitables. An rvalue
// is moved in.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/core/wait/seam/operation.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The awaiter of `A` (an lvalue or an rvalue reference) that returns the value of its result.
template <class A, class Where = anywhere>
class unwrapping : public adapted_awaiter<A, Where> {
  using result_type = std::remove_cvref_t<await_result_t<A>>;

 public:
  explicit unwrapping(A a) : adapted_awaiter<A, Where>(std::forward<A>(a)) {}

  typename result_type::value_type await_resume() {
    result_type result(this->inner_.await_resume());
    if (!result) [[unlikely]]
      throw_error(result.error());
    return *std::move(result);
  }
};

template <class A>
concept awaitable_result = awaitable<A> && is_result<std::remove_cvref_t<await_result_t<A>>>;

template <class A>
class [[nodiscard("an operation does nothing until it is awaited")]] or_throw_adaptor
    : public awaitable_base<or_throw_adaptor<A>> {
 public:
  explicit or_throw_adaptor(A&& a) : awaited_(std::forward<A>(a)) {}
  const std::remove_reference_t<A>& awaited() const noexcept { return awaited_; }
  static constexpr bool can_be_discarded = true;
  void discard() && noexcept { give_up_awaitable<A>(awaited_); }
  unwrapping<A&&> operator co_await() && { return unwrapping<A&&>(std::forward<A>(awaited_)); }
  unwrapping<A&&, in_task> await_in_task() &&
    requires(has_awaiter_in_task<A>)
  {
    return unwrapping<A&&, in_task>(std::forward<A>(awaited_));
  }

 private:
  A awaited_;  // a reference if `A` is one
};

}  // namespace detail

template <detail::awaitable_result A>
detail::or_throw_adaptor<A> or_throw(A&& a) {
  return detail::or_throw_adaptor<A>(std::forward<A>(a));
}

}}  // namespace hocket
