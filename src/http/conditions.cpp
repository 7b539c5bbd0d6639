#include <hocket/base/fatal.hpp>
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
  return a.substr(is_weak(a) ? weak_prefix.size() : 0) == b.substr(is_weak(b) ? weak_prefix.size() : 0);
}

// Reads the members of a list of entity tags. An entity tag ends at its second quote: a backslash in it is a plain
// character (8.8.3), while list_reader reads quoted strings, in which it escapes the next character.
class tag_reader {
 public:
  explicit tag_reader(std::string_view list) noexcept : rest_(list) {}

  // Sets `tag` to the next member. False: the list has ended, or the next member is malformed.
  bool next(std::string_view& tag) noexcept {
    skip([](char c) noexcept { return is_blank(c) || c == ','; });
    const std::size_t open = rest_.find('"');
    const std::size_t close = open == rest_.npos ? open : rest_.find('"', open + 1);
    if (close == rest_.npos) return false;
    tag = rest_.substr(0, close + 1);
    rest_.remove_prefix(tag.size());
    skip(is_blank);
    return is_entity_tag(tag) && (rest_.empty() || rest_.front() == ',');
  }

 private:
  template <class Condition>
  void skip(Condition skips) noexcept {
    while (!rest_.empty() && skips(rest_.front())) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

// Whether the file has changed after the date. Returns no value if the date is malformed.
std::optional<bool> is_modified_since(std::string_view value, const validators& current, std::int64_t now) noexcept {
  const std::optional<std::int64_t> date = parse_date(trim(value), now);
  if (!date) return {};
  return current.modified > *date;
}

bool fails_precondition(const condition_fields& fields, const validators& current, std::int64_t now) noexcept {
  if (fields.if_match) return !has_tag(*fields.if_match, current.tag, tag_comparison::strong);
  // A malformed date counts as absent: the condition holds.
  return fields.if_unmodified_since && is_modified_since(*fields.if_unmodified_since, current, now).value_or(false);
}

}  // namespace

bool has_tag(std::string_view list, std::string_view tag, tag_comparison comparison) noexcept {
  if (trim(list) == "*") return true;
  tag_reader members(list);
  for (std::string_view member; members.next(member);)
    if (equals(member, tag, comparison)) return true;
  return false;
}

condition_outcome evaluate_conditions(const condition_fields& fields, const validators& current, bool is_read,
                                      std::int64_t now) noexcept {
  if (fails_precondition(fields, current, now)) return condition_outcome::precondition_failed;
  if (fields.if_none_match) {
    if (!has_tag(*fields.if_none_match, current.tag, tag_comparison::weak)) return condition_outcome::proceed;
    return is_read ? condition_outcome::not_modified : condition_outcome::precondition_failed;
  }
  // A malformed date counts as absent: the request proceeds.
  if (is_read && fields.if_modified_since && !is_modified_since(*fields.if_modified_since, current, now).value_or(true))
    return condition_outcome::not_modified;
  return condition_outcome::proceed;
}

bool if_range_holds(std::optional<std::string_view> if_range, const validators& current, std::int64_t now) noexcept {
  if (!if_range) return true;
  const std::string_view value = trim(*if_range);
  if (is_entity_tag(value)) return equals(value, current.tag, tag_comparison::strong);
  const std::optional<std::int64_t> date = parse_date(value, now);
  // The file may change once more in its last second, and keep the date (8.8.2.2).
  return date && *date == current.modified && now - current.modified >= 2;
}

entity_tag::entity_tag(std::int64_t modified_ns, std::uint64_t size, std::string_view encoding) noexcept {
  hocket::detail::expects(encoding.size() <= max_encoding, "the encoding of an entity tag is too long",
                          "raise entity_tag::max_encoding");
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
