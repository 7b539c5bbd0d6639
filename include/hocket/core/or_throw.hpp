// or_throw: unwraps the result<T> that an awaitable gives: the value, or an exception.
//
//   int n = co_await or_throw(rx.receive());         // a fiber and a thread say await(or_throw(rx.receive()))
//
// A failure is thrown by throw_error(): `cancelled` for std::errc::operation_canceled, std::system_error otherwise.
// Takes every awaitable whose result is a result<T>: operations, selects, tasks, foreign ones. An rvalue is moved in.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/core/operation.hpp>

namespace hocket::inline HOCKET_ABI {

namespace detail {

template <bool trusted>
struct awaiter_base {};
template <>
struct awaiter_base<true> : own_awaiter {};

// The awaiter of `A` (an lvalue or an rvalue reference), but for the result.
template <class A>
class unwrapping : public awaiter_base<trusted_awaiter<awaiter_of<A>>> {
  using given = std::remove_cvref_t<await_result_t<A>>;

 public:
  explicit unwrapping(A a) : inner_(get_awaiter(std::forward<A>(a))) {}
  unwrapping(const unwrapping&) = delete;
  unwrapping& operator=(const unwrapping&) = delete;

  decltype(auto) await_ready() { return inner_.await_ready(); }
  template <class Promise>
  decltype(auto) await_suspend(std::coroutine_handle<Promise> handle) {
    return inner_.await_suspend(handle);
  }
  typename given::value_type await_resume() {
    given got(inner_.await_resume());
    if (!got) [[unlikely]]
      throw_error(got.error());
    return *std::move(got);
  }

 private:
  awaiter_of<A> inner_;
};

}  // namespace detail

template <class A>
concept awaitable_result = awaitable<A> && detail::is_result<std::remove_cvref_t<await_result_t<A>>>;

template <class A>
class [[nodiscard("an operation does nothing until it is awaited")]] or_throw_adaptor {
 public:
  explicit or_throw_adaptor(A&& a) : awaited_(std::forward<A>(a)) {}
  const std::remove_reference_t<A>& awaited() const noexcept { return awaited_; }
  detail::unwrapping<A&&> operator co_await() && { return detail::unwrapping<A&&>(std::forward<A>(awaited_)); }

 private:
  A awaited_;  // a reference if `A` is one
};

template <awaitable_result A>
or_throw_adaptor<A> or_throw(A&& a) {
  return or_throw_adaptor<A>(std::forward<A>(a));
}

}  // namespace hocket::inline HOCKET_ABI
