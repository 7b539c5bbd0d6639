// Conditional requests (RFC 9110, 13): whether a client has a representation already.
//
// Steps (13.2.2). Only the first step whose field exists in each pair counts.
//   1. If-Match, else If-Unmodified-Since: false is 412
//   2. If-None-Match, else If-Modified-Since: false is 304 for GET and HEAD, and else 412
//   3. Range with If-Range: false ignores Range
//
// A malformed date counts as absent. In If-Match and If-Range entity tags are compared strongly, in If-None-Match
// weakly (8.8.3.2).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

// The fields of a request. Not set: the field is absent.
struct condition_fields {
  std::optional<std::string_view> if_match{};
  std::optional<std::string_view> if_none_match{};
  std::optional<std::string_view> if_modified_since{};
  std::optional<std::string_view> if_unmodified_since{};
};

// The state of a file. `tag` is an entity tag with its quotes.
struct validators {
  std::string_view tag;
  std::int64_t modified;  // seconds since 1970
};

enum class condition_outcome : std::uint8_t { proceed, not_modified, precondition_failed };

// `is_read`: the method is GET or HEAD. `now`: seconds since 1970.
condition_outcome evaluate_conditions(const condition_fields& fields, const validators& current, bool is_read,
                                      std::int64_t now) noexcept;

// Whether a Range is to be applied: `if_range` is an entity tag or a date, or absent. A date counts only if the file is
// at least two seconds older than `now`: within one second a file may change twice (8.8.2.2).
bool is_range_current(std::optional<std::string_view> if_range, const validators& current, std::int64_t now) noexcept;

// Whether a list of entity tags, or "*", has the tag. The list ends at the first malformed member. An entity tag with a
// comma in it is one member.
enum class tag_comparison : std::uint8_t { strong, weak };
bool has_tag(std::string_view list, std::string_view tag, tag_comparison comparison) noexcept;

// The entity tag of a file: time of the last change in nanoseconds, size and encoding. It is strong: two states of a
// file with equal tags differ only if the file was written twice within the precision of the file system's clock.
class entity_tag {
 public:
  // `encoding` distinguishes the representations of a file: "", "br", "gz".
  entity_tag(std::int64_t modified_ns, std::uint64_t size, std::string_view encoding) noexcept;
  std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 40> text_;  // 2 quotes, 2 numbers of at most 16 digits, 2 hyphens, 2 letters
  std::size_t size_;
};

}}}  // namespace hocket::http::detail
