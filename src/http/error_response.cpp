#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/http/detail/handler.hpp>
#include <hocket/http/errc.hpp>
#include <hocket/http/response.hpp>

#include <new>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

response default_error_response(std::error_code error) {
  if (error == hocket::errc::deadline_exceeded)
    return text(reason_of(status::gateway_timeout)).set_status(status::gateway_timeout);
  const bool has_status = error.category() == http::error_category() && error.value() >= 400 && error.value() <= 599;
  const auto code = has_status ? static_cast<status>(error.value()) : status::internal_server_error;
  if (code == status::internal_server_error) return response(code);
  return text(reason_of(code)).set_status(code);
}

namespace detail {

namespace {

bool is_asked_to_stop() noexcept {
  const stop_source* const stop = current_context().stop();
  return stop && stop->requested() != stop_level::none;
}

}  // namespace

std::error_code error_of_exception() {
  try {
    throw;
  } catch (const hocket::detail::forced_unwind&) {
    throw;
  } catch (const cancelled& error) {
    if (is_asked_to_stop()) throw;
    return error.code();
  } catch (const std::system_error& error) {
    return error.code() ? error.code() : std::make_error_code(std::errc::state_not_recoverable);
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  } catch (...) {
    return std::make_error_code(std::errc::state_not_recoverable);
  }
}

void report_wrong_step() {
  hocket::detail::fatal("the wrong function of a step was called", "this is an error of the library");
}

}  // namespace detail

}}}  // namespace hocket::http
