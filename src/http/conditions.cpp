#include <hocket/http/detail/conditions.hpp>
#include <hocket/http/detail/date.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <algorithm>
#include <charconv>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

constexpr std::string_view weak_prefix = "W/";

bool is_weak(std::string_view tag) noexcept { return tag.starts_with(weak_prefix); }

bool equals(std::string_view a, std::string_view b, tag_comparison comparison) noexcept {
  if (comparison == tag_comparison::strong) return a == b && !is_weak(a);
  return a.substr(is_weak(a) ? 2 : 0) == b.substr(is_weak(b) ? 2 : 0);
}

// Whether the file has changed after the date of the field. A malformed date: nothing.
std::optional<bool> is_modified_since(std::string_view field, const validators& current, std::int64_t now) noexcept {
  const std::optional<std::int64_t> date = parse_date(trim(field), now);
  if (!date) return {};
  return current.modified > *date;
}

bool fails_precondition(const condition_fields& fields, const validators& current, std::int64_t now) noexcept {
  if (fields.if_match) return !has_tag(*fields.if_match, current.tag, tag_comparison::strong);
  return fields.if_unmodified_since && is_modified_since(*fields.if_unmodified_since, current, now).value_or(false);
}

}  // namespace

bool has_tag(std::string_view list, std::string_view tag, tag_comparison comparison) noexcept {
  if (trim(list) == "*") return true;
  list_reader members(list);
  for (std::string_view member; members.next(member);) {
    if (!is_entity_tag(member)) return false;
    if (equals(member, tag, comparison)) return true;
  }
  return false;
}

condition_outcome evaluate_conditions(const condition_fields& fields, const validators& current, bool is_read,
                                      std::int64_t now) noexcept {
  if (fails_precondition(fields, current, now)) return condition_outcome::precondition_failed;
  if (fields.if_none_match) {
    if (!has_tag(*fields.if_none_match, current.tag, tag_comparison::weak)) return condition_outcome::proceed;
    return is_read ? condition_outcome::not_modified : condition_outcome::precondition_failed;
  }
  if (is_read && fields.if_modified_since && !is_modified_since(*fields.if_modified_since, current, now).value_or(true))
    return condition_outcome::not_modified;
  return condition_outcome::proceed;
}

bool is_range_current(std::optional<std::string_view> if_range, const validators& current, std::int64_t now) noexcept {
  if (!if_range) return true;
  const std::string_view field = trim(*if_range);
  if (is_entity_tag(field)) return equals(field, current.tag, tag_comparison::strong);
  const std::optional<std::int64_t> date = parse_date(field, now);
  return date && *date == current.modified && now - current.modified >= 2;
}

entity_tag::entity_tag(std::int64_t modified_ns, std::uint64_t size, std::string_view encoding) noexcept {
  char* end = text_.data();
  char* const limit = text_.data() + text_.size();
  *end++ = '"';
  end = std::to_chars(end, limit, static_cast<std::uint64_t>(modified_ns), 16).ptr;
  *end++ = '-';
  end = std::to_chars(end, limit, size, 16).ptr;
  if (!encoding.empty()) *end++ = '-';
  end = std::copy(encoding.begin(), encoding.end(), end);
  *end++ = '"';
  size_ = static_cast<std::size_t>(end - text_.data());
}

}}}  // namespace hocket::http::detail
