// Dates of HTTP (RFC 9110, section 5.6.7).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

inline constexpr std::size_t date_size = 29;
using date_text = std::array<char, date_size>;

// Formats seconds since 1970 as "Sun, 06 Nov 1994 08:49:37 GMT". Times outside of the years 1970 to 9999 are clamped.
date_text format_date(std::int64_t seconds) noexcept;

// Reads the three formats of section 5.6.7: IMF-fixdate, RFC 850 and asctime. Returns seconds since 1970; no value for
// a malformed date and for a year before 1970. A year of two digits that is more than 50 years after `now` is of the
// last century.
std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now) noexcept;

}}}}  // namespace hocket::http::detail
