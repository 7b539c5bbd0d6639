#include <hocket/http/detail/field_table.hpp>
#include <hocket/http/detail/tokens.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

std::size_t field_table::find(std::string_view name) const noexcept {
  const known_field field = find_known_field(name);
  return field == known_field::unknown ? scan(0, name) : find(field);
}

std::size_t field_table::find_next(std::size_t index) const noexcept {
  const field_entry& entry = entries_[index];
  if (entry.known == known_field::unknown) return scan(index + 1, name(index));
  return entry.next == 0 ? npos : entry.next;
}

std::size_t field_table::scan(std::size_t index, std::string_view name) const noexcept {
  for (; index != size_; ++index)
    if (entries_[index].known == known_field::unknown && equals_ignore_case(this->name(index), name)) return index;
  return npos;
}

}}}}  // namespace hocket::http::detail
