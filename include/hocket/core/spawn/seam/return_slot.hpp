// The end of a coroutine, and its result until the owner takes it: none yet, a value, or an exception.
#pragma once
#include <hocket/base/fatal.hpp>
#include <concepts>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// The end of a coroutine: it returned a value, threw an exception, or was stopped. A member of a group (outcome.hpp)
// may also have returned a result that is an error.
enum class outcome_kind : std::uint8_t {
  none,       // it has not ended
  value,      // it returned
  error,      // it returned a result<T> with another error than the following
  exception,  // it left by an exception other than `cancelled`
  cancelled,  // std::errc::operation_canceled, or the exception `cancelled`
  timed_out,  // by its own deadline, or by its group's: std::errc::timed_out
  killed,     // it was killed, and has unwound
  refused     // its target refused it
};

namespace detail {

// T may be an object type, a reference or void. Not thread-safe: the party that finishes the coroutine publishes it.
template <class T>
class return_slot {
  using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

 public:
  return_slot() noexcept {}
  return_slot(const return_slot&) = delete;
  return_slot& operator=(const return_slot&) = delete;
  ~return_slot() { reset(); }

  template <class U>
    requires std::constructible_from<T, U>
  void set_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
    if constexpr (std::is_reference_v<T>) value_ = std::addressof(static_cast<std::remove_reference_t<T>&>(value));
    else ::new (const_cast<void*>(static_cast<const void*>(std::addressof(value_)))) T(std::forward<U>(value));
    state_ = state::value;
  }
  // Constructs the result of call() in the slot.
  template <class F>
  void set_value_from(F&& call) noexcept(noexcept(call())) {
    if constexpr (std::is_reference_v<T>) {
      auto&& referent = call();
      value_ = std::addressof(referent);
    } else {
      ::new (const_cast<void*>(static_cast<const void*>(std::addressof(value_)))) T(call());
    }
    state_ = state::value;
  }
  void set_exception(std::exception_ptr error) noexcept {
    reset();
    ::new (static_cast<void*>(std::addressof(error_))) std::exception_ptr(std::move(error));
    state_ = state::exception;
  }
  bool empty() const noexcept { return state_ == state::nothing; }
  bool failed() const noexcept { return state_ == state::exception; }

  // Returns the value, or rethrows the exception (the same object).
  T take() {
    if (state_ == state::exception) [[unlikely]]
      std::rethrow_exception(error_);
    if constexpr (std::is_reference_v<T>) return static_cast<T>(*value_);
    else return std::move(value_);
  }
  // Returns the value in its place, to move from, or rethrows. It stays there until the slot is destroyed.
  T&& get() {
    if (state_ == state::exception) [[unlikely]]
      std::rethrow_exception(error_);
    if constexpr (std::is_reference_v<T>) return static_cast<T&&>(*value_);
    else return std::move(value_);
  }

 private:
  enum class state : unsigned char { nothing, value, exception };
  void reset() noexcept {
    if (state_ == state::value) value_.~stored();
    else if (state_ == state::exception) error_.~exception_ptr();
    state_ = state::nothing;
  }
  union {
    stored value_;
    std::exception_ptr error_;
  };
  state state_ = state::nothing;
};

template <>
class return_slot<void> {
 public:
  void set_value() noexcept { done_ = true; }
  void set_exception(std::exception_ptr error) noexcept { error_ = std::move(error); }
  bool empty() const noexcept { return !done_ && !error_; }
  bool failed() const noexcept { return error_ != nullptr; }
  void take() {
    if (error_) [[unlikely]]
      std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
  bool done_ = false;
};

}  // namespace detail

}}  // namespace hocket
