// Conditional requests: entity tags, dates and their precedence.
#include <hocket/http/detail/conditions.hpp>

#include <array>
#include <doctest/doctest.h>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "support/death.hpp"

using namespace hocket::http::detail;
using hocket_test::expect_fatal;

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
           row{"\"abc\" x", false, false},
           row{"\"a\\\", \"abc\"", true, true},
           row{"\"\\\",W/\"abc\"", false, true},
       }) {
    CAPTURE(expected.list);
    CHECK(has_tag(expected.list, current.tag, tag_comparison::strong) == expected.strong);
    CHECK(has_tag(expected.list, current.tag, tag_comparison::weak) == expected.weak);
  }
  CHECK_FALSE(has_tag("W/\"abc\"", "W/\"abc\"", tag_comparison::strong));
  CHECK(has_tag("\"abc\"", "W/\"abc\"", tag_comparison::weak));
}

// What may be between the quotes of an entity tag.
constexpr std::array<std::string_view, 18> opaque_tags{"",    "own",  "OWN",     "a,b", ",", "\\",           "a\\",
                                                       "\\,", "\\\\", "\\own\\", "W/",  "*", "\xe2\x80\x9d", "'",
                                                       "%22", "\x80", "\xff",    "!#~"};

std::vector<std::string> all_tags() {
  std::vector<std::string> tags;
  for (const std::string_view opaque : opaque_tags) {
    tags.push_back('"' + std::string(opaque) + '"');
    tags.push_back("W/" + tags.back());
  }
  return tags;
}

bool is_same(const std::string& member, const std::string& tag, tag_comparison comparison) {
  if (comparison == tag_comparison::strong) return member == tag && member[0] == '"';
  return member.substr(member.find('"')) == tag.substr(tag.find('"'));
}

TEST_CASE("a list has exactly its members, whatever characters they have") {
  const std::vector<std::string> tags = all_tags();
  for (const std::string separator : {",", ", ", "\t,,  , "})
    for (const std::string& first : tags)
      for (const std::string& second : tags) {
        const std::string list = first + separator + second;
        for (const std::string& tag : tags)
          for (const tag_comparison comparison : {tag_comparison::strong, tag_comparison::weak})
            if (has_tag(list, tag, comparison) !=
                (is_same(first, tag, comparison) || is_same(second, tag, comparison))) {
              CAPTURE(list);
              CAPTURE(tag);
              FAIL("the list has other members");
            }
      }
}

TEST_CASE("each byte is a part of an entity tag or ends the list") {
  for (int byte = 0; byte != 256; ++byte) {
    CAPTURE(byte);
    const bool is_plain = byte == 0x21 || (byte >= 0x23 && byte <= 0x7e) || byte >= 0x80;  // etagc
    const std::string tag = std::string("\"") + static_cast<char>(byte) + "\"";
    CHECK(has_tag(tag, tag, tag_comparison::strong) == is_plain);
    CHECK(has_tag(tag + ", \"own\"", "\"own\"", tag_comparison::strong) == is_plain);
    CHECK(has_tag("\"own\", " + tag, "\"own\"", tag_comparison::strong));
  }
}

TEST_CASE("a list of entity tags ends at the first malformed member") {
  for (const std::string member : {"own",         "*",           "\"own",      "own\"",      "w/\"own\"",
                                   "W/",          "W/own",       "W /\"own\"", "W/ \"own\"", "W/W/\"own\"",
                                   "\"o\"wn\"",   "\"own\"x",    "\"own\" x",  "x\"own\"",   "\"own\" \"own\"",
                                   "\"own\";q=1", "\"\\\"own\"", "\"a own\"",  "\"",         "\"\"\""}) {
    CAPTURE(member);
    for (const tag_comparison comparison : {tag_comparison::strong, tag_comparison::weak}) {
      CHECK_FALSE(has_tag(member + "x", "\"own\"", comparison));
      CHECK_FALSE(has_tag(member + ",\"own\"", "\"own\"", comparison));
      CHECK_FALSE(has_tag(member + " , \"own\"", "\"own\"", comparison));
      CHECK(has_tag("\"own\"," + member, "\"own\"", comparison));
    }
  }
}

TEST_CASE("If-None-Match gives 304 for a read and 412 for a write") {
  CHECK(evaluate({.if_none_match = "\"abc\""}) == condition_outcome::not_modified);
  CHECK(evaluate({.if_none_match = "*"}) == condition_outcome::not_modified);
  CHECK(evaluate({.if_none_match = "\"abc\""}, false) == condition_outcome::precondition_failed);
  CHECK(evaluate({.if_none_match = "\"x\""}) == condition_outcome::proceed);
  CHECK(evaluate({.if_none_match = ""}) == condition_outcome::proceed);
  CHECK(evaluate({.if_none_match = "\"a\\\", \"abc\""}) == condition_outcome::not_modified);
  CHECK(evaluate({.if_match = "\"a\\\", \"abc\""}, false) == condition_outcome::proceed);
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
    CHECK_FALSE(if_range_holds(date == "\"abc\"" ? "\"x\"" : date, current, now));
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
  CHECK(if_range_holds(std::nullopt, current, now));
  CHECK(if_range_holds("\"abc\"", current, now));
  CHECK(if_range_holds(same, current, now));
  for (std::string_view field : {"\"x\"", "W/\"abc\"", "*", "", "abc", "\"abc\", \"abc\"", "\"abc", "\"abc\\\""}) {
    CAPTURE(field);
    CHECK_FALSE(if_range_holds(field, current, now));
  }
  CHECK_FALSE(if_range_holds(earlier, current, now));
  CHECK_FALSE(if_range_holds(later, current, now));
  CHECK_FALSE(if_range_holds(same, current, changed + 1));  // the file may change once more in this second
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

TEST_CASE("an encoding that an entity tag has no room for is fatal") {
  const entity_tag longest(-1, std::numeric_limits<std::uint64_t>::max(), "gzip");
  CHECK(longest.text() == "\"ffffffffffffffff-ffffffffffffffff-gzip\"");
  for (const std::string encoding :
       {"xgzip", "deflate", "a text of more than 40 characters that overruns all members"}) {
    CAPTURE(encoding);
    expect_fatal([&] { const entity_tag tag(1, 1, encoding); }, "the encoding of an entity tag is too long");
  }
}
