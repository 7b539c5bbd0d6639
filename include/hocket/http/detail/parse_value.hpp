// The value of a text of a request: an integer, a std::string_view or a std::string.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/http/errc.hpp>
#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

template <class T>
inline constexpr bool is_number =
    std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> &&
    !std::is_same_v<T, char8_t> && !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>;
template <class T>
inline constexpr bool is_value = is_number<T> || std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>;

// An integer is decimal digits, behind a minus sign if T is signed and the number is negative. Leading zeros are
// allowed, a plus sign and blanks are not. Errors: http::errc::bad_request for other texts, and for numbers outside of
// the range of T.
template <class T>
result<T> parse_value(std::string_view text) {
  static_assert(is_value<T>, "hocket: a value of a request is an integer, a std::string_view or a std::string");
  if constexpr (!is_number<T>) {
    return result<T>(std::in_place, text);
  } else {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return failure(errc::bad_request);
    return value;
  }
}

}}}}  // namespace hocket::http::detail
