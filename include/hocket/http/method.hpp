// Methods of requests (RFC 9110, section 9; RFC 5789).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// The method of a request. `other` is each method that has no value here; request::method_name() has its text.
enum class method : std::uint8_t { get, head, post, put, delete_, connect, options, trace, patch, other };

// "GET" for method::get; "" for method::other. The text is static.
std::string_view to_string(method value) noexcept;

namespace detail {
// The method with this name. Names are case-sensitive: "get" is method::other.
method find_method(std::string_view name) noexcept;
}  // namespace detail

}}}  // namespace hocket::http
