// Queries, forms, and the values of texts: decoding, limits, exact boundaries.
#include "unit/http/made_request.hpp"

#include <hocket/http/request.hpp>
#include <hocket/http/request_body.hpp>

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::literals;

namespace {

struct pair_row {
  std::string raw;
  std::string name;
  std::optional<std::string> value;  // none: no such pair
};
const std::vector<pair_row> pair_rows = {
    {"a=1", "a", "1"},
    {"a=1&b=2", "b", "2"},
    {"a=1&a=2", "a", "1"},
    {"a", "a", ""},
    {"a=", "a", ""},
    {"=1", "", "1"},
    {"a=1&&b=2", "b", "2"},
    {"&&&", "", std::nullopt},
    {"", "", std::nullopt},
    {"a=b=c", "a", "b=c"},
    {"a=x+y", "a", "x y"},
    {"a+b=1", "a b", "1"},
    {"a=%2B", "a", "+"},
    {"%61=1", "a", "1"},
    {"a=%C3%A4", "a", "\xc3\xa4"},
    {"a=%00b", "a", "\0b"s},
    {"a=%0d%0a", "a", "\r\n"},
    {"a=%26b=1", "a", "&b=1"},
    {"a%3D1", "a=1", ""},
    {"A=1", "a", std::nullopt},
    {"a=1;b=2", "a", "1;b=2"},
    {"aa=1", "a", std::nullopt},
};
const std::vector<std::string> malformed = {"a=%",   "a=%4",  "a=%zz", "%=1",    "a=%%",     "a=1&b=%g1",
                                            "a=%0x", "a=%-1", "a=% 1", "%4=1&b", "b=1&a=%4", "x=%u0041"};

std::string many_pairs(std::size_t count) {
  std::string text = "a=1";
  for (std::size_t i = 1; i != count; ++i) text += "&b";
  return text;
}

made_request form_of(std::string_view body, std::string_view type = "application/x-www-form-urlencoded") {
  return made_request("POST / HTTP/1.1\nHost: a\nContent-Type: " + std::string(type), body);
}

template <class T>
void check_boundaries() {
  using limits = std::numeric_limits<T>;
  const auto parse = [](std::string_view text) { return http::detail::parse_value<T>(text); };
  const std::string min = std::to_string(limits::min()), max = std::to_string(limits::max());
  CHECK(parse(min) == limits::min());
  CHECK(parse(max) == limits::max());
  CHECK(parse("0") == T{0});
  CHECK(parse("007") == T{7});
  CHECK(parse(std::string(50, '0') + max) == limits::max());
  // The number beyond: the last digit is below 9 for all of these types.
  std::string beyond = max;
  ++beyond.back();
  CHECK(parse(beyond) == failure(http::errc::bad_request));
  if constexpr (std::is_signed_v<T>) {
    std::string below = min;
    ++below.back();
    CHECK(parse(below) == failure(http::errc::bad_request));
    CHECK(parse("-1") == T{-1});
    CHECK(parse("-0") == T{0});
  } else {
    CHECK(parse("-1") == failure(http::errc::bad_request));
    CHECK(parse("-0") == failure(http::errc::bad_request));
  }
  constexpr std::array<std::string_view, 19> no_numbers{"",
                                                        " ",
                                                        "+1",
                                                        " 1",
                                                        "1 ",
                                                        "1x",
                                                        "x1",
                                                        "0x1",
                                                        "1.0",
                                                        "1e1",
                                                        "--1",
                                                        "-",
                                                        "1,0",
                                                        "١",
                                                        "1\0"sv,
                                                        "1\n",
                                                        "true",
                                                        "99999999999999999999",
                                                        "-99999999999999999999"};
  for (const std::string_view text : no_numbers) {
    CAPTURE(text);
    CHECK(parse(text) == failure(http::errc::bad_request));
  }
}

}  // namespace

TEST_CASE("integers are parsed to the exact boundaries of each type") {
  check_boundaries<signed char>();
  check_boundaries<unsigned char>();
  check_boundaries<short>();
  check_boundaries<unsigned short>();
  check_boundaries<int>();
  check_boundaries<unsigned>();
  check_boundaries<long>();
  check_boundaries<unsigned long>();
  check_boundaries<long long>();
  check_boundaries<unsigned long long>();
}

TEST_CASE("texts are parsed to views and strings") {
  CHECK(http::detail::parse_value<std::string_view>("a b") == "a b"sv);
  CHECK(http::detail::parse_value<std::string>("a b") == "a b"s);
  CHECK(http::detail::parse_value<std::string_view>("") == ""sv);
}

TEST_CASE("pairs of a query and a form are decoded, and the first one of a name counts") {
  for (const pair_row& row : pair_rows) {
    CAPTURE(row.raw);
    http::detail::arena memory;
    http::detail::pair_table table;
    CHECK_FALSE(table.is_decoded());
    table.decode(row.raw, memory);
    CHECK(table.is_decoded());
    CHECK(table.is_valid());
    const auto found = table.find(row.name);
    CHECK(found.has_value() == row.value.has_value());
    if (found && row.value) CHECK(*found == *row.value);
    // The same through a form, whose body may have any byte.
    made_request form = form_of(row.raw);
    const auto value = form->form(row.name);
    CHECK(value.has_value() == row.value.has_value());
    if (value && row.value) CHECK(*value == *row.value);
    if (!row.value) CHECK(value == failure(http::errc::bad_request));
  }
}

TEST_CASE("a malformed query or form is a bad request for each of its names") {
  for (const std::string& raw : malformed) {
    CAPTURE(raw);
    http::detail::arena memory;
    http::detail::pair_table table;
    table.decode(raw, memory);
    CHECK(table.is_decoded());
    CHECK_FALSE(table.is_valid());
    made_request form = form_of(raw);
    for (const char* name : {"a", "b", "c"}) {
      CHECK(form->form(name) == failure(http::errc::bad_request));
      CHECK(form->form(name, "default") == failure(http::errc::bad_request));
    }
    if (raw.find(' ') != std::string::npos) continue;  // no target has blanks
    made_request query(get("/?" + raw));
    for (const char* name : {"a", "b", "c"}) {
      CHECK(query->query(name) == failure(http::errc::bad_request));
      CHECK(query->query(name, "default") == failure(http::errc::bad_request));
    }
  }
}

TEST_CASE("a query and a form have at most 1,000 pairs") {
  for (const std::size_t count : std::initializer_list<std::size_t>{1, 999, 1000, 1001, 5000}) {
    CAPTURE(count);
    const bool fits = count <= 1000;
    made_request query(get("/?" + many_pairs(count)));
    CHECK(query->query("a").has_value() == fits);
    made_request form = form_of(many_pairs(count));
    CHECK(form->form("a").has_value() == fits);
    if (!fits) CHECK(query->query("a") == failure(http::errc::bad_request));
  }
  // Empty pairs are no pairs.
  const std::string empty(5000, '&');
  CHECK(form_of(empty + "a=1" + empty)->form("a") == "1"sv);
}

TEST_CASE("a form of 1 MB is decoded") {
  const std::string value(1 << 20, 'v');
  made_request form = form_of("a=" + value + "&b=2");
  CHECK(form->form("a") == std::string_view(value));
  CHECK(form->form("b") == "2"sv);
}

TEST_CASE("query gives typed values, and a value for an absent pair") {
  made_request holder(get("/?n=42&text=x%20y&bad=4x&empty="));
  const http::request& rq = *holder;
  CHECK(rq.query("text") == "x y"sv);
  CHECK(rq.query<std::string>("text") == "x y"s);
  CHECK(rq.query<int>("n") == 42);
  CHECK(rq.query<int>("bad") == failure(http::errc::bad_request));
  CHECK(rq.query<int>("empty") == failure(http::errc::bad_request));
  CHECK(rq.query<int>("absent") == failure(http::errc::bad_request));
  CHECK(rq.query("absent") == failure(http::errc::bad_request));
  CHECK(rq.query("n", 1) == 42);
  CHECK(rq.query("absent", 1) == 1);
  CHECK(rq.query("bad", 1) == failure(http::errc::bad_request));
  CHECK(rq.query("absent", "default") == "default"sv);
  CHECK(rq.query("empty", "default") == ""sv);
  CHECK(rq.query("absent", "default"s) == "default"s);
}

TEST_CASE("form gives typed values, and a value for an absent pair") {
  made_request holder = form_of("n=42&text=x+y", "Application/X-WWW-Form-Urlencoded; charset=utf-8");
  const http::request& rq = *holder;
  CHECK(rq.form("text") == "x y"sv);
  CHECK(rq.form<unsigned char>("n") == static_cast<unsigned char>(42));
  CHECK(rq.form<int>("text") == failure(http::errc::bad_request));
  CHECK(rq.form("absent", 7) == 7);
  CHECK(rq.form("absent", "default") == "default"sv);
}

TEST_CASE("a body of another type is no form") {
  for (const char* type : {"text/plain", "multipart/form-data; boundary=x", "application/json", "",
                           "application/x-www-form-urlencoded2", "x-www-form-urlencoded"}) {
    CAPTURE(type);
    CHECK(form_of("a=1", type)->form("a") == failure(http::errc::unsupported_media_type));
  }
  made_request without_type("POST / HTTP/1.1\nHost: a", "a=1");
  CHECK(without_type->form("a") == failure(http::errc::unsupported_media_type));
}

TEST_CASE("a view of a query lives as long as the request") {
  made_request holder(get("/?a=%41&b=%42"));
  const std::string_view a = *holder->query("a");
  const std::string_view b = *holder->query("b");
  static_cast<void>(holder->path());
  CHECK(a == "A");
  CHECK(b == "B");
  CHECK(holder->query("a")->data() == a.data());
}
