// Programming errors: one place where they end.
//
// A misuse (resuming a finished coroutine, yielding from outside) cannot be repaired by the caller that made it, so it
// is not reported as a result: `fatal` calls the installed handler with what happened and how to repair it, then
// aborts. The default handler writes one line to standard error; it allocates nothing and takes no lock.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <source_location>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// What a fatal handler is told. `subject` names the coroutine (or other object) at fault; it may be null.
struct fatal_error {
  const char* message;
  const char* remedy;
  const char* subject;
  std::source_location location;
};

// Called once per fatal error, on the thread that made it; any thread may call it. If it returns, the process aborts.
// It must not throw.
using fatal_handler = void (*)(const fatal_error&) noexcept;

// Replaces the handler; null restores the default. Returns the previous one. Thread safe.
fatal_handler set_fatal_handler(fatal_handler handler) noexcept;

namespace detail {
// A callable that may throw, or has a state.
template <class Handler, class Given>
inline constexpr bool is_no_handler =
    !std::is_convertible_v<Handler, void (*)(Given) noexcept> && std::is_invocable_v<Handler&, Given>;
}  // namespace detail

template <class Handler>
  requires detail::is_no_handler<Handler, const fatal_error&>
fatal_handler set_fatal_handler(Handler&&) noexcept {
  static_assert(
      !detail::is_no_handler<Handler, const fatal_error&>,
      "hocket: a fatal handler is noexcept and captures nothing: set_fatal_handler([](const fatal_error& e) noexcept {...})");
  return nullptr;
}

namespace detail {

// Reports a programming error and aborts.
[[noreturn, HOCKET_COLD]] void fatal(const char* what, const char* remedy, const char* subject = nullptr,
                                     std::source_location where = std::source_location::current()) noexcept;

// Checks a precondition at level `misuse` (on unless HOCKET_CHECKS is 0).
constexpr void expects(bool holds, const char* what, const char* remedy, const char* subject = nullptr,
                       std::source_location where = std::source_location::current()) noexcept {
  if constexpr (misuse_checks) {
    if (!holds) [[unlikely]]
      fatal(what, remedy, subject, where);
  }
}

// Checks an invariant at level `debug` (on when HOCKET_CHECKS is 2).
constexpr void debug_expects(bool holds, const char* what, const char* remedy, const char* subject = nullptr,
                             std::source_location where = std::source_location::current()) noexcept {
  if constexpr (debug_checks) {
    if (!holds) [[unlikely]]
      fatal(what, remedy, subject, where);
  }
}

}  // namespace detail

// Notices: conditions that are handled but that an operator may want to see (a fallback taken, a limit met). The
// default sink drops them: the library itself never prints. `text` is valid during the call only.
using log_handler = void (*)(const char* text) noexcept;
log_handler set_log_handler(log_handler handler) noexcept;
template <class Handler>
  requires detail::is_no_handler<Handler, const char*>
log_handler set_log_handler(Handler&&) noexcept {
  static_assert(
      !detail::is_no_handler<Handler, const char*>,
      "hocket: a notice handler is noexcept and captures nothing: set_log_handler([](const char* text) noexcept {...})");
  return nullptr;
}

namespace detail {
void notice(const char* text) noexcept;
}  // namespace detail

}}  // namespace hocket
