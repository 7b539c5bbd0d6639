// The default error table of a router.
#pragma once
#include <hocket/http/response.hpp>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// The response to an error of a handler, for error tables that change a part of it (router::set_error_table()). An
// http::errc gives its status, with the reason as text. hocket::errc::deadline_exceeded gives 504. All other errors
// give 500 without a text, because an error of the server tells a peer nothing.
response default_error_response(std::error_code error);

}}}  // namespace hocket::http
