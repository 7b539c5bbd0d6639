// waited: the result of a wait that may be ignored.
#pragma once
#include <hocket/base/result.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// The result of a wait that only a stop or a deadline can end early: yield(), a sleep. It may be ignored, because the
// coroutine's next wait fails with the same error. The error is operation_canceled or timed_out. A waited converts to
// result<void>.
//
// One byte, because compilers keep the result of a co_await in the coroutine's frame, also an unused one: with
// result<void> a task with three yields had a frame of 288 bytes, one cache line more.
class waited {
  enum class ended : std::uint8_t { well, cancelled, timed_out };

 public:
  using value_type = void;
  using error_type = std::error_code;

  constexpr waited() noexcept = default;
  waited(failure cause) noexcept : state_(state_of(cause.error())) {}
  waited(const result<void>& other) noexcept : state_(other ? ended::well : state_of(other.error())) {}
  operator result<void>() const noexcept { return has_value() ? result<void>() : result<void>(failure(code())); }

  constexpr bool has_value() const noexcept { return state_ == ended::well; }
  constexpr explicit operator bool() const noexcept { return has_value(); }
  void operator*() const noexcept {
    detail::expects(has_value(), "the value of a failed result was used", "test the result first, or use value()");
  }
  std::error_code error_or(std::error_code other) const noexcept { return has_value() ? other : code(); }
  // Like and_then() and transform() of result<void>.
  template <class F>
  auto and_then(F&& f) const {
    return static_cast<result<void>>(*this).and_then(std::forward<F>(f));
  }
  template <class F>
  auto transform(F&& f) const {
    return static_cast<result<void>>(*this).transform(std::forward<F>(f));
  }
  // Throws `cancelled` or std::system_error.
  void value() const {
    if (!has_value()) [[unlikely]]
      detail::throw_error(code());
  }
  std::error_code error() const noexcept {
    detail::expects(!has_value(), "error() of a result that holds a value", "ask has_value() first");
    return code();
  }
  friend bool operator==(waited a, waited b) noexcept = default;
  friend bool operator==(waited a, const result<void>& b) noexcept { return static_cast<result<void>>(a) == b; }
  friend bool operator==(waited a, const failure& b) noexcept { return !a.has_value() && a.code() == b.error(); }

 private:
  static ended state_of(std::error_code error) noexcept {
    if (error == std::errc::operation_canceled) return ended::cancelled;
    detail::expects(error == std::errc::timed_out, "a wait that may be ignored failed by itself",
                    "give it no may_be_ignored (core/wait/seam/operation.hpp)");
    return ended::timed_out;
  }
  std::error_code code() const noexcept {
    return make_error_code(state_ == ended::cancelled ? errc::cancelled : errc::deadline_exceeded);
  }

  ended state_ = ended::well;
};

}}  // namespace hocket
