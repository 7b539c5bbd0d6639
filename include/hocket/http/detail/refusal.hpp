// Why a request is refused before a handler is called.
#pragma once
#include <hocket/http/status.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// The status of the answer, and the section of the rule: "RFC 9112, 5.1". The section is a literal, for logs and tests.
struct refusal {
  status code = status::ok;  // ok: not refused
  const char* section = "";

  bool is_set() const noexcept { return code != status::ok; }
};

}}}}  // namespace hocket::http::detail
