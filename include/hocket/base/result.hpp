// result<T>: a value, or the std::error_code of the failure.
//
// The members are those of std::expected (C++23). The error type is always std::error_code, so results do not nest, and
// each error compares with std::errc and with the error enums of other libraries. T is an object type (move-only
// included), an lvalue reference or void. If T is trivially copyable and trivially destructible, so is the result.
//
//   result<int> port(std::string_view text);
//   if (auto p = port("8080")) listen(*p); else report(p.error());
//   int sure = port("8080").value();      // throws through throw_error
//
// Misuse. Access to the absent side (`*r` of a failure, `r.error()` of a value) is a programming error and fatal.
#pragma once
#include <hocket/base/detail/result_storage.hpp>
#include <hocket/base/error.hpp>
#include <hocket/base/fatal.hpp>
#include <concepts>

namespace hocket { inline namespace HOCKET_ABI {

template <class T>
class result;

// An error to construct a failed result from: `return failure{std::errc::timed_out};`.
class failure {
 public:
  // An `error` of 0 means success: passing it is a programming error.
  explicit failure(std::error_code error, std::source_location location = std::source_location::current()) noexcept
      : error_(error) {
    detail::expects(static_cast<bool>(error), "a failure was made of an error code that means success",
                    "return the value, or an error code that is not 0", nullptr, location);
  }
  template <class Enum>
    requires(std::is_error_code_enum_v<Enum> || std::is_same_v<Enum, std::errc>)
  explicit failure(Enum error, std::source_location location = std::source_location::current()) noexcept
      : failure(make_error_code(error), location) {}

  std::error_code error() const noexcept { return error_; }
  friend bool operator==(const failure& a, const failure& b) noexcept { return a.error_ == b.error_; }

 private:
  std::error_code error_;
};

class waited;

namespace detail {

template <class>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;
template <>
inline constexpr bool is_result<waited> = true;

template <class From, class To>
concept binds_to = std::is_lvalue_reference_v<From> &&
                   std::is_convertible_v<std::remove_reference_t<From>*, std::remove_reference_t<To>*>;

// The arguments from which a result<T> is constructed as a value: neither failures nor results.
template <class U, class T>
concept value_for = !is_result<std::remove_cvref_t<U>> && !std::is_same_v<std::remove_cvref_t<U>, failure> &&
                    !std::is_same_v<std::remove_cvref_t<U>, std::in_place_t> && !std::is_void_v<T> &&
                    (std::is_reference_v<T> ? binds_to<U, T> : std::is_constructible_v<T, U>);

template <class T, class U>
concept comparable = requires(const T& a, const U& b) {
  { a == b } -> std::convertible_to<bool>;
};

}  // namespace detail

// A value or an error; see above.
template <class T>
class [[nodiscard]] result {
  static_assert(!std::is_rvalue_reference_v<T> && !std::is_array_v<T>,
                "result<T>: T is an object type, an lvalue reference or void");
  static_assert(!std::is_same_v<std::remove_cv_t<T>, failure> && !detail::is_result<std::remove_cv_t<T>>,
                "result<T>: nothing nests; T is no failure and no result");
  using storage = detail::result_storage<T>;

 public:
  using value_type = T;
  using error_type = std::error_code;
  template <class U>
  using rebind = result<U>;

  constexpr result() noexcept(std::is_nothrow_default_constructible_v<typename storage::stored>)
    requires(std::is_void_v<T> || std::is_default_constructible_v<T>)
      : storage_(std::in_place) {}

  template <class U = T>
    requires detail::value_for<U, T>
  constexpr explicit(!std::is_reference_v<T> && !std::is_convertible_v<U, T>) result(U&& value)
      : storage_(std::in_place, storage::keep(std::forward<U>(value))) {}

  template <class... Args>
    requires(!std::is_reference_v<T> && std::is_constructible_v<typename storage::stored, Args...>)
  constexpr explicit result(std::in_place_t, Args&&... args) : storage_(std::in_place, std::forward<Args>(args)...) {}

  result(failure f) noexcept : storage_(f.error()) {}
  result(std::errc error, std::source_location location = std::source_location::current()) noexcept
    requires(!std::is_same_v<std::remove_cv_t<T>, std::errc>)
      : storage_(failure{error, location}.error()) {}

  template <class U>
    requires(!std::is_same_v<T, U> && (std::is_void_v<T> ? std::is_void_v<U> : detail::value_for<U, T>))
  constexpr explicit(!std::is_convertible_v<U, T>) result(result<U> other)
      : result(other ? result(std::in_place_t{}, *std::move(other)) : result(failure{other.error()})) {}

  template <class U = T>
    requires detail::value_for<U, T>
  constexpr result& operator=(U&& value) {
    storage_.assign(storage::keep(std::forward<U>(value)));
    return *this;
  }
  result& operator=(failure f) noexcept { return storage_.fail(f.error()), *this; }

  constexpr bool has_value() const noexcept { return storage_.has_value(); }
  constexpr explicit operator bool() const noexcept { return has_value(); }

  constexpr decltype(auto) operator*() & noexcept { return storage::get(expect_value(*this).storage_); }
  constexpr decltype(auto) operator*() const& noexcept { return storage::get(expect_value(*this).storage_); }
  constexpr decltype(auto) operator*() && noexcept { return storage::get(expect_value(std::move(*this)).storage_); }
  constexpr decltype(auto) operator*() const&& noexcept {
    return storage::get(expect_value(std::move(*this)).storage_);
  }
  constexpr auto* operator->() noexcept
    requires(!std::is_void_v<T>)
  {
    return std::addressof(**this);
  }
  constexpr auto* operator->() const noexcept
    requires(!std::is_void_v<T>)
  {
    return std::addressof(**this);
  }

  // Returns the value. A failure throws `cancelled` or std::system_error.
  constexpr decltype(auto) value() & { return storage::get(value_or_throw(*this).storage_); }
  constexpr decltype(auto) value() const& { return storage::get(value_or_throw(*this).storage_); }
  constexpr decltype(auto) value() && { return storage::get(value_or_throw(std::move(*this)).storage_); }
  constexpr decltype(auto) value() const&& { return storage::get(value_or_throw(std::move(*this)).storage_); }

  std::error_code error() const noexcept {
    detail::expects(!has_value(), "error() of a result that holds a value", "ask has_value() first");
    return storage_.error();
  }

  template <class U>
  constexpr T value_or(U&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  constexpr T value_or(U&& other) && {
    return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(other));
  }
  std::error_code error_or(std::error_code other) const noexcept { return has_value() ? other : storage_.error(); }

  // Returns f(value), which is a result. A failure is passed on.
  template <class F>
  constexpr auto and_then(F&& f) & {
    return chain(*this, std::forward<F>(f));
  }
  template <class F>
  constexpr auto and_then(F&& f) const& {
    return chain(*this, std::forward<F>(f));
  }
  template <class F>
  constexpr auto and_then(F&& f) && {
    return chain(std::move(*this), std::forward<F>(f));
  }
  template <class F>
  constexpr auto and_then(F&& f) const&& {
    return chain(std::move(*this), std::forward<F>(f));
  }

  // Returns a result that holds f(value). A failure is passed on.
  template <class F>
  constexpr auto transform(F&& f) & {
    return transform_value(*this, std::forward<F>(f));
  }
  template <class F>
  constexpr auto transform(F&& f) const& {
    return transform_value(*this, std::forward<F>(f));
  }
  template <class F>
  constexpr auto transform(F&& f) && {
    return transform_value(std::move(*this), std::forward<F>(f));
  }
  template <class F>
  constexpr auto transform(F&& f) const&& {
    return transform_value(std::move(*this), std::forward<F>(f));
  }

  // Returns f(error), which is a result<T>. A value is passed on.
  template <class F>
  constexpr result or_else(F&& f) const& {
    return has_value() ? *this : result(std::forward<F>(f)(storage_.error()));
  }
  template <class F>
  constexpr result or_else(F&& f) && {
    return has_value() ? std::move(*this) : result(std::forward<F>(f)(storage_.error()));
  }

  // Returns a failure with the error code f(error). A value is passed on.
  template <class F>
  constexpr result transform_error(F&& f) const& {
    return has_value() ? *this : result(failure{std::error_code{std::forward<F>(f)(storage_.error())}});
  }
  template <class F>
  constexpr result transform_error(F&& f) && {
    return has_value() ? std::move(*this) : result(failure{std::error_code{std::forward<F>(f)(storage_.error())}});
  }

  // Constructs a new value in place of the value or the error. If the construction throws, the old content stays.
  template <class... Args>
    requires(!std::is_reference_v<T> && std::is_constructible_v<typename storage::stored, Args...>)
  decltype(auto) emplace(Args&&... args) noexcept(std::is_nothrow_constructible_v<typename storage::stored, Args...>) {
    storage_.replace(std::forward<Args>(args)...);
    return storage::get(storage_);
  }

  constexpr void swap(result& other) noexcept(std::is_nothrow_move_constructible_v<typename storage::stored>) {
    result old(std::move(other));
    other = std::move(*this);
    *this = std::move(old);
  }
  friend constexpr void swap(result& a, result& b) noexcept(noexcept(a.swap(b))) { a.swap(b); }

  template <class U>
    requires(std::is_void_v<T> ? std::is_void_v<U> : detail::comparable<T, U>)
  friend constexpr bool operator==(const result& a, const result<U>& b) {
    if (a.has_value() != b.has_value()) return false;
    if (!a.has_value()) return a.storage_.error() == b.error();
    if constexpr (std::is_void_v<T>) return true;
    else return static_cast<bool>(*a == *b);
  }
  template <class U>
    requires(detail::value_for<const U&, std::remove_cvref_t<T>> && detail::comparable<T, U>)
  friend constexpr bool operator==(const result& a, const U& b) {
    return a.has_value() && static_cast<bool>(*a == b);
  }
  friend bool operator==(const result& a, const failure& b) noexcept {
    return !a.has_value() && a.storage_.error() == b.error();
  }

 private:
  template <class U>
  friend class result;

  template <class F>
  constexpr result(detail::from_call, F&& call) : storage_(detail::from_call{}, std::forward<F>(call)) {}

  template <class Self>
  static constexpr Self&& expect_value(Self&& self) noexcept {
    if constexpr (detail::misuse_checks) {
      if (!self.has_value()) [[unlikely]] {
        detail::fatal("the value of a failed result was used", "test the result first, or use value() or value_or()");
      }
    }
    return static_cast<Self&&>(self);
  }
  template <class Self>
  static constexpr Self&& value_or_throw(Self&& self) {
    if (!self.has_value()) [[unlikely]]
      detail::throw_error(self.storage_.error());
    return static_cast<Self&&>(self);
  }

  // Calls f() if T is void, else f(value).
  template <class Self, class F>
  static constexpr decltype(auto) invoke(Self&& self, F&& f) {
    if constexpr (std::is_void_v<T>) return std::forward<F>(f)();
    else return std::forward<F>(f)(storage::get(std::forward<Self>(self).storage_));
  }
  template <class Self, class F>
  static constexpr auto chain(Self&& self, F&& f) {
    using next = std::remove_cvref_t<decltype(invoke(std::forward<Self>(self), std::forward<F>(f)))>;
    static_assert(detail::is_result<next>, "result::and_then: the callable must return a result; use transform()");
    if (!self.has_value()) return next(failure{self.storage_.error()});
    return next(invoke(std::forward<Self>(self), std::forward<F>(f)));
  }
  template <class Self, class F>
  static constexpr auto transform_value(Self&& self, F&& f) {
    using call = decltype(invoke(std::forward<Self>(self), std::forward<F>(f)));
    using next = result<std::conditional_t<std::is_lvalue_reference_v<call>, call, std::remove_cvref_t<call>>>;
    if (!self.has_value()) return next(failure{self.storage_.error()});
    return next(detail::from_call{},
                [&]() -> decltype(auto) { return invoke(std::forward<Self>(self), std::forward<F>(f)); });
  }

  storage storage_;
};

}}  // namespace hocket
