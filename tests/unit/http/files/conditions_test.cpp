// Conditional requests: entity tags, dates and their precedence.
#include <hocket/http/detail/conditions.hpp>

#include <doctest/doctest.h>
#include <initializer_list>
#include <limits>
#include <string>

using namespace hocket::http::detail;

namespace {

// Sun, 06 Nov 1994 08:49:37 GMT
constexpr std::int64_t changed = 784111777;
constexpr std::int64_t now = changed + 1000;
constexpr std::string_view earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr std::string_view same = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::string_view later = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr validators current{.tag = "\"abc\"", .modified = changed};

condition_outcome evaluate(const condition_fields& fields, bool is_read = true) {
  return evaluate_conditions(fields, current, is_read, now);
}

}  // namespace

TEST_CASE("a list of entity tags is compared strongly or weakly") {
  struct row {
    std::string_view list;
    bool strong, weak;
  };
  for (const row& expected : {
           row{"\"abc\"", true, true},
           row{"*", true, true},
           row{" * ", true, true},
           row{"W/\"abc\"", false, true},
           row{"\"x\", \"abc\"", true, true},
           row{"\"x\",W/\"abc\" , \"y\"", false, true},
           row{"\"a,b\", \"abc\"", true, true},
           row{",\"abc\",", true, true},
           row{"\"ab\"", false, false},
           row{"\"ABC\"", false, false},
           row{"abc", false, false},
           row{"", false, false},
           row{"w/\"abc\"", false, false},
           row{"\"abc", false, false},
           row{"W/", false, false},
           row{"\"\"", false, false},
           row{"x, \"abc\"", false, false},
           row{"*, \"abc\"", false, false},
           row{"\"a\" \"abc\"", false, false},
       }) {
    CAPTURE(expected.list);
    CHECK(has_tag(expected.list, current.tag, tag_comparison::strong) == expected.strong);
    CHECK(has_tag(expected.list, current.tag, tag_comparison::weak) == expected.weak);
  }
  CHECK_FALSE(has_tag("W/\"abc\"", "W/\"abc\"", tag_comparison::strong));
  CHECK(has_tag("\"abc\"", "W/\"abc\"", tag_comparison::weak));
}

TEST_CASE("If-None-Match gives 304 for a read and 412 for a write") {
  CHECK(evaluate({.if_none_match = "\"abc\""}) == condition_outcome::not_modified);
  CHECK(evaluate({.if_none_match = "*"}) == condition_outcome::not_modified);
  CHECK(evaluate({.if_none_match = "\"abc\""}, false) == condition_outcome::precondition_failed);
  CHECK(evaluate({.if_none_match = "\"x\""}) == condition_outcome::proceed);
  CHECK(evaluate({.if_none_match = ""}) == condition_outcome::proceed);
}

TEST_CASE("If-Modified-Since counts for a read without If-None-Match") {
  CHECK(evaluate({.if_modified_since = earlier}) == condition_outcome::proceed);
  CHECK(evaluate({.if_modified_since = same}) == condition_outcome::not_modified);
  CHECK(evaluate({.if_modified_since = later}) == condition_outcome::not_modified);
  CHECK(evaluate({.if_modified_since = same}, false) == condition_outcome::proceed);
  CHECK(evaluate({.if_none_match = "\"x\"", .if_modified_since = same}) == condition_outcome::proceed);
  CHECK(evaluate({.if_none_match = "\"abc\"", .if_modified_since = earlier}) == condition_outcome::not_modified);
}

TEST_CASE("a malformed date counts as absent") {
  for (std::string_view date :
       {"", "x", "0", "784111777", "Sun, 06 Nov 1994", "06 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nox 1994 08:49:37 GMT", "\"abc\"",
        "1994-11-06T08:49:37Z"}) {
    CAPTURE(date);
    CHECK(evaluate({.if_modified_since = date}) == condition_outcome::proceed);
    CHECK(evaluate({.if_unmodified_since = date}) == condition_outcome::proceed);
    CHECK_FALSE(is_range_current(date == "\"abc\"" ? "\"x\"" : date, current, now));
  }
}

TEST_CASE("If-Match and If-Unmodified-Since give 412, before the other fields") {
  CHECK(evaluate({.if_match = "\"abc\""}) == condition_outcome::proceed);
  CHECK(evaluate({.if_match = "*"}) == condition_outcome::proceed);
  CHECK(evaluate({.if_match = "W/\"abc\""}) == condition_outcome::precondition_failed);
  CHECK(evaluate({.if_match = "\"x\""}, false) == condition_outcome::precondition_failed);
  CHECK(evaluate({.if_match = "\"x\"", .if_none_match = "\"abc\""}) == condition_outcome::precondition_failed);
  CHECK(evaluate({.if_match = "\"abc\"", .if_unmodified_since = earlier}) == condition_outcome::proceed);
  CHECK(evaluate({.if_unmodified_since = earlier}) == condition_outcome::precondition_failed);
  CHECK(evaluate({.if_unmodified_since = same}) == condition_outcome::proceed);
  CHECK(evaluate({.if_unmodified_since = later}) == condition_outcome::proceed);
}

TEST_CASE("If-Range applies a range to the same file alone") {
  CHECK(is_range_current(std::nullopt, current, now));
  CHECK(is_range_current("\"abc\"", current, now));
  CHECK(is_range_current(same, current, now));
  for (std::string_view field : {"\"x\"", "W/\"abc\"", "*", "", "abc", "\"abc\", \"abc\"", "\"abc"}) {
    CAPTURE(field);
    CHECK_FALSE(is_range_current(field, current, now));
  }
  CHECK_FALSE(is_range_current(earlier, current, now));
  CHECK_FALSE(is_range_current(later, current, now));
  CHECK_FALSE(is_range_current(same, current, changed + 1));  // the file may change once more in this second
}

TEST_CASE("an entity tag differs for each time, size and encoding, and is one itself") {
  CHECK(entity_tag(255, 16, "").text() == "\"ff-10\"");
  CHECK(entity_tag(255, 16, "br").text() == "\"ff-10-br\"");
  const entity_tag longest(-1, std::numeric_limits<std::uint64_t>::max(), "gz");
  CHECK(longest.text() == "\"ffffffffffffffff-ffffffffffffffff-gz\"");
  CHECK(has_tag(longest.text(), longest.text(), tag_comparison::strong));
  const std::string tag(entity_tag(1, 1, "").text());
  for (const entity_tag& other :
       {entity_tag(2, 1, ""), entity_tag(1, 2, ""), entity_tag(1, 1, "gz"), entity_tag(0x11, 0, "")})
    CHECK(other.text() != tag);
}
