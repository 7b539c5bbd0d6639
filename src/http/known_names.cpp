#include <hocket/http/detail/field_names.hpp>

#include "known_names.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

known_field find_known_field(std::string_view name) noexcept { return match_known_name(name); }

std::string_view to_string(known_field field) noexcept {
  const auto index = static_cast<std::size_t>(field);
  return index < known_field_count ? known_names[index] : std::string_view{};
}

}}}}  // namespace hocket::http::detail
