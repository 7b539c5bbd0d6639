// Handlers of programming errors and of log messages.
//
// A caller cannot repair its own misuse (resuming a finished coroutine, yielding from outside), so hocket does not
// report misuse as a result. `fatal` passes a message and a remedy to the fatal handler, then aborts. The default
// handler writes one line to standard error, allocates nothing and takes no lock.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <source_location>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// The argument of a fatal handler. `subject` names the coroutine (or other object) at fault, or is null.
struct fatal_error {
  const char* message;
  const char* remedy;
  const char* subject;
  std::source_location location;
};

// A handler of fatal errors. `fatal` calls the handler once for each error, on the thread that made the error: any
// thread. The handler must not throw. If it returns, the process aborts.
using fatal_handler = void (*)(const fatal_error&) noexcept;

// Replaces the fatal handler and returns the previous one. Null restores the default. Thread safe.
fatal_handler set_fatal_handler(fatal_handler handler) noexcept;

namespace detail {
// Whether the callable may throw or captures state, so that it is no handler.
template <class Handler, class Argument>
inline constexpr bool is_no_handler =
    !std::is_convertible_v<Handler, void (*)(Argument) noexcept> && std::is_invocable_v<Handler&, Argument>;
}  // namespace detail

template <class Handler>
  requires detail::is_no_handler<Handler, const fatal_error&>
fatal_handler set_fatal_handler(Handler&&) noexcept {
  static_assert(!detail::is_no_handler<Handler, const fatal_error&>,
                "hocket: a fatal handler is noexcept and captures nothing: "
                "set_fatal_handler([](const fatal_error& e) noexcept {...})");
  return nullptr;
}

namespace detail {

// Reports a programming error and aborts.
[[noreturn, HOCKET_COLD]] void fatal(const char* message, const char* remedy, const char* subject = nullptr,
                                     std::source_location location = std::source_location::current()) noexcept;

// Checks a precondition at level `misuse` (on unless HOCKET_CHECKS is 0).
constexpr void expects(bool holds, const char* message, const char* remedy, const char* subject = nullptr,
                       std::source_location location = std::source_location::current()) noexcept {
  if constexpr (misuse_checks) {
    if (!holds) [[unlikely]]
      fatal(message, remedy, subject, location);
  }
}

// Checks an invariant at level `debug` (on when HOCKET_CHECKS is 2).
constexpr void debug_expects(bool holds, const char* message, const char* remedy, const char* subject = nullptr,
                             std::source_location location = std::source_location::current()) noexcept {
  if constexpr (debug_checks) {
    if (!holds) [[unlikely]]
      fatal(message, remedy, subject, location);
  }
}

}  // namespace detail

// A handler of log messages. Log messages report conditions that hocket handles, but that an operator may want to see
// (a fallback, a limit). The default handler drops the messages: hocket prints none of them. `text` is valid during the
// call only.
using log_handler = void (*)(const char* text) noexcept;

// Replaces the log handler and returns the previous one. Null restores the default. Thread safe.
log_handler set_log_handler(log_handler handler) noexcept;
template <class Handler>
  requires detail::is_no_handler<Handler, const char*>
log_handler set_log_handler(Handler&&) noexcept {
  static_assert(
      !detail::is_no_handler<Handler, const char*>,
      "hocket: a log handler is noexcept and captures nothing: set_log_handler([](const char* text) noexcept {...})");
  return nullptr;
}

namespace detail {
void notice(const char* text) noexcept;
}  // namespace detail

}}  // namespace hocket
