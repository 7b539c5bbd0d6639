// Status codes of responses (RFC 9110, section 15; RFC 6585, 7725, 8297, 8470).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// The status of a response. Other codes from 100 to 999 are static_cast<status>(code).
enum class status : std::uint16_t {
  continue_ = 100,
  switching_protocols = 101,
  early_hints = 103,
  ok = 200,
  created = 201,
  accepted = 202,
  non_authoritative_information = 203,
  no_content = 204,
  reset_content = 205,
  partial_content = 206,
  multiple_choices = 300,
  moved_permanently = 301,
  found = 302,
  see_other = 303,
  not_modified = 304,
  use_proxy = 305,
  temporary_redirect = 307,
  permanent_redirect = 308,
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
  no_longer_available = 410,  // "Gone"
  length_required = 411,
  precondition_failed = 412,
  payload_too_large = 413,  // "Content Too Large"
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

// The reason phrase: "Not Found" for status::not_found. "" for a code that is no enumerator. The text is static.
std::string_view reason_of(status code) noexcept;

}}}  // namespace hocket::http
