// The field Range: satisfiable, unsatisfiable and ignored fields.
#include <hocket/http/detail/ranges.hpp>

#include <doctest/doctest.h>
#include <initializer_list>
#include <string>
#include <vector>

using hocket::http::detail::byte_range;
using hocket::http::detail::range_set;

namespace {

constexpr std::uint64_t file_size = 1000;

range_set parse(std::string_view field) { return range_set::parse(field, file_size); }

std::string repeated(std::string_view text, int count) {
  std::string all = "bytes=";
  for (int i = 0; i < count; ++i) all.append(i ? "," : "").append(text);
  return all;
}

}  // namespace

TEST_CASE("satisfiable ranges are returned in their order, and are cut at the end of the file") {
  struct row {
    std::string_view field;
    std::vector<byte_range> expected;
  };
  const row rows[] = {
      {"bytes=0-499", {{0, 500}}},
      {"bytes=500-999", {{500, 1000}}},
      {"bytes=500-", {{500, 1000}}},
      {"bytes=-500", {{500, 1000}}},
      {"bytes=-5000", {{0, 1000}}},
      {"bytes=0-0", {{0, 1}}},
      {"bytes=999-", {{999, 1000}}},
      {"bytes=990-2000", {{990, 1000}}},
      {"bytes=0-18446744073709551615", {{0, 1000}}},
      {"bytes=0-99999999999999999999999", {{0, 1000}}},
      {"bytes=0-0,-1", {{0, 1}, {999, 1000}}},
      {"bytes=500-600,0-99", {{500, 601}, {0, 100}}},
      {"bytes= 0-1 , 3-4\t,5-6", {{0, 2}, {3, 5}, {5, 7}}},
      {"bytes=,,0-1,,", {{0, 2}}},
      {"BYTES=0-1", {{0, 2}}},
      {"bytes=0-1,1000-", {{0, 2}}},
      {"bytes=-0,5-6", {{5, 7}}},
      {"bytes=0-0,2-2,4-4,6-6,8-8", {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}}},
  };
  for (const row& current : rows) {
    CAPTURE(current.field);
    const range_set set = parse(current.field);
    CHECK(set.result() == range_set::outcome::satisfiable);
    CHECK(std::vector<byte_range>(set.begin(), set.end()) == current.expected);
  }
}

TEST_CASE("a field without a satisfiable range is unsatisfiable") {
  for (std::string_view field :
       {"bytes=1000-", "bytes=1000-1001", "bytes=-0", "bytes=5000-,6000-", "bytes=99999999999999999999999-",
        "bytes=-0,-0", "bytes=1000-1000,-0", "bytes=18446744073709551615-", "bytes= 1000- ", "bytes=,1000-,"}) {
    CAPTURE(field);
    CHECK(parse(field).result() == range_set::outcome::unsatisfiable);
    CHECK(parse(field).size() == 0);
  }
  for (std::string_view field : {"bytes=0-", "bytes=-1", "bytes=0-0"}) {
    CAPTURE(field);
    CHECK(range_set::parse(field, 0).result() == range_set::outcome::unsatisfiable);
  }
}

TEST_CASE("a malformed range, or one of another unit, is ignored") {
  for (std::string_view field :
       {"",           "bytes",         "bytes=",     "bytes=,",     "=0-1",       "items=0-1",     "byte=0-1",
        "bytess=0-1", "bytes=-",       "bytes=1",    "bytes=a-b",   "bytes=0-b",  "bytes=--1",     "bytes=0--1",
        "bytes=+0-1", "bytes=0x0-0x1", "bytes=5-4",  "bytes=0 -1",  "bytes=0- 1", "bytes=0-1;2-3", "bytes=0-1 2-3",
        "bytes:0-1",  "bytes=0-1,x",   "bytes==0-1", "bytes=1.5-2", "bytes=-1-2"}) {
    CAPTURE(field);
    CHECK(parse(field).result() == range_set::outcome::ignored);
  }
}

TEST_CASE("ranges that have a byte in common are ignored") {
  for (std::string_view field :
       {"bytes=0-,0-", "bytes=0-10,10-20", "bytes=0-499,-501", "bytes=-1,-1", "bytes=5-9,0-5", "bytes=0-999,500-500",
        "bytes=500-500,0-999", "bytes=0-0,1-1,0-0", "bytes=-1000,0-0", "bytes=10-20,30-40,15-35"}) {
    CAPTURE(field);
    CHECK(parse(field).result() == range_set::outcome::ignored);
  }
}

TEST_CASE("more than five ranges are ignored, however many there are") {
  for (int count : {6, 7, 10, 100, 1000, 100000}) {
    for (std::string_view range : {"0-", "0-0", "-1", "1000-"}) {
      CAPTURE(count);
      CAPTURE(range);
      CHECK(parse(repeated(range, count)).result() == range_set::outcome::ignored);
    }
  }
}
