// outcome<T>: how a child of a group ended (when_all_settled, when_some), with its value, error or exception.
//
//   for (auto& o : co_await when_all_settled(std::move(requests))) {
//     if (o) use(*o);                                     // it gave a value
//     else if (o.kind() == outcome_kind::error) log(o.error()); // it gave a result<T> that is an error
//     else if (o.kind() == outcome_kind::exception) ...         // o.value() rethrows it
//   }
//
// T is the type that the awaitable gives, or U if it gives a result<U>: void, a reference or an object type. A
// cancellation has a kind of its own, as an error and as the exception `cancelled`. A time-out has
// the kind timed_out as an error, and the kind exception if or_throw() has thrown it.
//
// Thread safety. None.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/base/result.hpp>
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// How a child of a group ended; see above.
template <class T>
class [[nodiscard]] outcome {
  static constexpr bool empty = std::is_void_v<T>;
  using stored =
      std::conditional_t<empty, char, std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>>;

 public:
  using value_type = T;
  using reference = std::add_lvalue_reference_t<T>;

  outcome() noexcept {}
  outcome(outcome&& other) noexcept(std::is_nothrow_move_constructible_v<stored>) { move_from(other); }
  outcome& operator=(outcome&& other) noexcept(std::is_nothrow_move_constructible_v<stored>) {
    if (this == &other) return *this;
    reset();
    move_from(other);
    return *this;
  }
  ~outcome() { reset(); }

  outcome_kind kind() const noexcept { return kind_; }
  explicit operator bool() const noexcept { return kind_ == outcome_kind::value; }

  // The value; fatal if there is none.
  reference operator*() & noexcept {
    check_value();
    if constexpr (std::is_reference_v<T>) return *value_;
    else if constexpr (!empty) return value_;
  }
  T operator*() && noexcept(empty || std::is_reference_v<T> || std::is_nothrow_move_constructible_v<stored>) {
    check_value();
    if constexpr (std::is_reference_v<T>) return static_cast<T>(*value_);
    else if constexpr (!empty) return std::move(value_);
  }
  std::remove_reference_t<T>* operator->() noexcept
    requires(!empty)
  {
    check_value();
    if constexpr (std::is_reference_v<T>) return value_;
    else return std::addressof(value_);
  }

  // The error code: operation_canceled if the child was cancelled or killed; no error for a value and for an exception.
  std::error_code error() const noexcept {
    if (kind_ == outcome_kind::error || kind_ == outcome_kind::timed_out) return error_;
    if (kind_ == outcome_kind::cancelled || kind_ == outcome_kind::killed) return make_error_code(errc::cancelled);
    return {};
  }

  // The exception; null for every other kind.
  std::exception_ptr exception() const noexcept { return kind_ == outcome_kind::exception ? exception_ : nullptr; }

  // The value. Without one, throws the exception, or the error as or_throw does.
  reference value() & {
    throw_if_none();
    return **this;
  }
  std::add_lvalue_reference_t<const T> value() const& {
    throw_if_none();
    if constexpr (std::is_reference_v<T>) return *value_;
    else if constexpr (!empty) return value_;
  }
  T value() && {
    throw_if_none();
    return *std::move(*this);
  }

  // --- called once, by the group that settles the outcome
  template <class... U>
  void set_value(U&&... value) noexcept(std::is_nothrow_constructible_v<stored, U...>) {
    if constexpr (std::is_reference_v<T>) ::new (storage()) stored((std::addressof(value), ...));
    else if constexpr (!empty) ::new (storage()) stored(std::forward<U>(value)...);
    kind_ = outcome_kind::value;
  }
  void set_error(std::error_code error) noexcept {
    if (error == std::errc::operation_canceled) return set_cancelled();
    ::new (static_cast<void*>(std::addressof(error_))) std::error_code(error);
    kind_ = error == std::errc::timed_out ? outcome_kind::timed_out : outcome_kind::error;
  }
  void set_exception(std::exception_ptr exception) noexcept {
    ::new (static_cast<void*>(std::addressof(exception_))) std::exception_ptr(std::move(exception));
    kind_ = outcome_kind::exception;
  }
  void set_cancelled() noexcept { kind_ = outcome_kind::cancelled; }
  void set_killed() noexcept { kind_ = outcome_kind::killed; }

 private:
  void* storage() noexcept { return const_cast<void*>(static_cast<const void*>(std::addressof(value_))); }
  void check_value() const noexcept {
    detail::expects(kind_ == outcome_kind::value, "the value of an outcome that has none was used",
                    "ask `if (outcome)` first");
  }
  void throw_if_none() const {
    if (kind_ == outcome_kind::exception) std::rethrow_exception(exception_);
    if (kind_ != outcome_kind::value) detail::throw_error(error());
  }
  bool has_error() const noexcept { return kind_ == outcome_kind::error || kind_ == outcome_kind::timed_out; }
  void move_from(outcome& other) {
    if (other.kind_ == outcome_kind::value) ::new (storage()) stored(std::move(other.value_));
    else if (other.has_error()) ::new (static_cast<void*>(std::addressof(error_))) std::error_code(other.error_);
    else if (other.kind_ == outcome_kind::exception)
      ::new (static_cast<void*>(std::addressof(exception_))) std::exception_ptr(other.exception_);
    kind_ = other.kind_;
  }
  void reset() noexcept {
    if (kind_ == outcome_kind::value) value_.~stored();
    else if (has_error()) error_.~error_code();
    else if (kind_ == outcome_kind::exception) exception_.~exception_ptr();
    kind_ = outcome_kind::none;
  }

  union {
    stored value_;
    std::error_code error_;
    std::exception_ptr exception_;
  };
  outcome_kind kind_ = outcome_kind::none;
};

namespace detail {
// The result of when_any of a range, and an element of the result of when_some: the index of the child, from 0, and how
// the child ended. Without a child: `none`, and an outcome of kind outcome_kind::none.
template <class T>
struct first_of {
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t index = none;
  outcome<T> value;
};
}  // namespace detail

}}  // namespace hocket
