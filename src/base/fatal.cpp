#include <hocket/base/fatal.hpp>

#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

atomic<fatal_handler> fatal_sink{nullptr};
atomic<log_handler> notice_sink{nullptr};

void write_line(const fatal_error& error) noexcept {
  char line[1024];  // the precisions keep the remedy in it, whatever a caller says
  int n = std::snprintf(line, sizeof line, "hocket: %.300s%s%.100s%s\n  remedy: %.300s\n  at %s:%u (%s)\n",
                        error.message, error.subject ? " [coroutine " : "", error.subject ? error.subject : "",
                        error.subject ? "]" : "", error.remedy, error.location.file_name(),
                        static_cast<unsigned>(error.location.line()), error.location.function_name());
  if (n < 0) return;
  auto length = static_cast<std::size_t>(n) < sizeof line ? static_cast<std::size_t>(n) : sizeof line - 1;
  // Nothing can be done if standard error is closed: the process aborts next.
  [[maybe_unused]] auto ignored = detail::raw_calls::write(STDERR_FILENO, line, length);
}

}  // namespace

fatal_handler set_fatal_handler(fatal_handler handler) noexcept {
  // ORDER: acq_rel, pairs with the load in fatal(): a handler's own state is visible to its first call.
  return fatal_sink.exchange(handler, std::memory_order_acq_rel);
}

namespace detail {
void fatal(const char* message, const char* remedy, const char* subject, std::source_location location) noexcept {
  fatal_error error{message, remedy, subject, location};
  // ORDER: acquire, pairs with the exchange in set_fatal_handler().
  if (auto handler = fatal_sink.load(std::memory_order_acquire)) handler(error);
  else write_line(error);
  std::abort();
}
}  // namespace detail

log_handler set_log_handler(log_handler handler) noexcept {
  // ORDER: acq_rel, pairs with the load in notice(): a handler's own state is visible to its first call.
  return notice_sink.exchange(handler, std::memory_order_acq_rel);
}

namespace detail {
void notice(const char* text) noexcept {
  // ORDER: acquire, pairs with the exchange in set_log_handler().
  if (auto handler = notice_sink.load(std::memory_order_acquire)) handler(text);
}
}  // namespace detail

}}  // namespace hocket
