// The arguments of a completion handler of Boost.Asio, as a result.
#pragma once
#include <hocket/base/result.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <optional>
#include <tuple>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace net = ::boost::asio;
using asio_error_code = boost::system::error_code;

template <class... T>
struct asio_values {
  using type = std::tuple<T...>;
};
template <class T>
struct asio_values<T> {
  using type = T;
};
template <>
struct asio_values<> {
  using type = void;
};

// Before it is set, the result is `cancelled`: a destroyed io_context drops operations without a completion.
template <class... T>
class asio_outcome {
 public:
  using value_type = typename asio_values<T...>::type;

  void set_values(std::error_code error, T&&... values) {
    values_.emplace(std::move(values)...);
    error_ = error;
  }
  void set_exception(std::exception_ptr thrown) noexcept { thrown_ = std::move(thrown); }

  bool aborted() const noexcept { return !thrown_ && error_ == std::errc::operation_canceled; }

  result<value_type> take() {
    if (thrown_) std::rethrow_exception(thrown_);
    if (error_) return failure(error_);
    if constexpr (sizeof...(T) == 0) return {};
    else if constexpr (sizeof...(T) == 1) return result<value_type>(std::in_place, std::get<0>(std::move(*values_)));
    else return result<value_type>(std::in_place, std::move(*values_));
  }

 private:
  std::error_code error_ = make_error_code(errc::cancelled);
  std::exception_ptr thrown_;
  std::optional<std::tuple<T...>> values_;
};

// What the handler is called with.
template <class... Args>
struct asio_arguments {};

template <class... T>
struct plain_outcome : asio_outcome<T...> {
  using arguments = asio_arguments<T...>;
  void set(T... values) { this->set_values({}, std::move(values)...); }
};
template <class... T>
struct error_outcome : asio_outcome<T...> {
  using arguments = asio_arguments<asio_error_code, T...>;
  void set(asio_error_code error, T... values) { this->set_values(error, std::move(values)...); }
};
template <class... T>
struct exception_outcome : asio_outcome<T...> {
  using arguments = asio_arguments<std::exception_ptr, T...>;
  void set(std::exception_ptr thrown, T... values) {
    this->set_values({}, std::move(values)...);
    this->set_exception(std::move(thrown));
  }
};

// By the decayed arguments of the completion signature.
template <class... Args>
struct asio_outcome_of {
  using type = plain_outcome<Args...>;
};
template <class... Args>
struct asio_outcome_of<asio_error_code, Args...> {
  using type = error_outcome<Args...>;
};
template <class... Args>
struct asio_outcome_of<std::exception_ptr, Args...> {
  using type = exception_outcome<Args...>;
};

}}}  // namespace hocket::detail
