// Conditional requests (RFC 9110, 13): whether a client has a representation already.
//
// Steps (13.2.2). Only the first step whose field exists in each pair counts.
//   1. If-Match, else If-Unmodified-Since: false is 412
//   2. If-None-Match: false is 304 for GET and HEAD, else 412. Without it, for GET and HEAD only, If-Modified-Since:
//      false is 304
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

// Whether If-Range lets the server apply a Range: the current file has the validator, or the field is absent.
// `if_range` is the value of the field, an entity tag or a date. A date counts only if the file is at least two seconds
// older than `now`. A newer date is not a strong validator, because a file may change twice in one second (8.8.2.2).
bool if_range_holds(std::optional<std::string_view> if_range, const validators& current, std::int64_t now) noexcept;

// Whether a list of entity tags, or "*", has the tag. The list ends at the first malformed member. A comma and a
// backslash are plain characters of an entity tag.
enum class tag_comparison : std::uint8_t { strong, weak };
bool has_tag(std::string_view list, std::string_view tag, tag_comparison comparison) noexcept;

// The entity tag of a file: time of the last change in nanoseconds, size and encoding. The tag is strong: two states of
// a file with equal tags differ only if the file was written twice within the precision of the file system's clock.
class entity_tag {
 public:
  static constexpr std::size_t max_encoding = 4;

  // `encoding` distinguishes the representations of a file: "", "br" or "gzip". More than max_encoding characters are
  // fatal.
  entity_tag(std::int64_t modified_ns, std::uint64_t size, std::string_view encoding) noexcept;
  std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 2 + 2 * 16 + 2 + max_encoding> text_;  // 2 quotes, 2 numbers, 2 hyphens, the encoding
  std::size_t size_;
};

}}}  // namespace hocket::http::detail
