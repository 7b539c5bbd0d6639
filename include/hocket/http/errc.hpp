// Errors with a status. A handler that returns or throws http::errc answers with this status:
//
//   if (!user) co_return failure(http::errc::not_found);
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <system_error>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// The value is the status code. Each status from 400 to 599 has an enumerator with the name of http::status.
enum class errc {
  bad_request = 400,
  unauthorized = 401,
  payment_required = 402,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  not_acceptable = 406,
  proxy_authentication_required = 407,
  request_timeout = 408,
  conflict = 409,
  no_longer_available = 410,
  length_required = 411,
  precondition_failed = 412,
  payload_too_large = 413,
  uri_too_long = 414,
  unsupported_media_type = 415,
  range_not_satisfiable = 416,
  expectation_failed = 417,
  misdirected_request = 421,
  unprocessable_content = 422,
  too_early = 425,
  upgrade_required = 426,
  precondition_required = 428,
  too_many_requests = 429,
  request_header_fields_too_large = 431,
  unavailable_for_legal_reasons = 451,
  internal_server_error = 500,
  not_implemented = 501,
  bad_gateway = 502,
  service_unavailable = 503,
  gateway_timeout = 504,
  http_version_not_supported = 505,
  insufficient_storage = 507,
  network_authentication_required = 511,
};

// The category "hocket.http". A message is the reason phrase of the status.
const std::error_category& error_category() noexcept;
// Converts an errc to a std::error_code. The conversion is implicit, too.
inline std::error_code make_error_code(errc error) noexcept { return {static_cast<int>(error), error_category()}; }

}}}  // namespace hocket::http

template <>
struct std::is_error_code_enum<hocket::http::errc> : std::true_type {};
