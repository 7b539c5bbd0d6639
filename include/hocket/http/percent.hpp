// Percent-encoding of URIs (RFC 3986, section 2.1) and of forms.
#pragma once
#include <hocket/base/result.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// What a plus sign means. In forms and in the queries that browsers send for forms it is a space.
enum class plus_sign : bool { literal, space };

// Decodes `%41` to `A`. Errors: http::errc::bad_request if a percent sign has no two hexadecimal digits behind it.
// Throws std::bad_alloc. The result may contain any byte, also NUL.
result<std::string> percent_decode(std::string_view text, plus_sign plus = plus_sign::literal);

// Encodes each byte that is neither a letter, a digit, nor one of `-._~`. Throws std::bad_alloc.
std::string percent_encode(std::string_view text);

namespace detail {
// Decodes into `output`, which has room for text.size() bytes and may be the text itself. Returns the size of the
// decoded text, and nothing for a malformed text; the output is unspecified then.
std::optional<std::size_t> percent_decode_to(std::string_view text, char* output,
                                             plus_sign plus = plus_sign::literal) noexcept;
}  // namespace detail

}}}  // namespace hocket::http
