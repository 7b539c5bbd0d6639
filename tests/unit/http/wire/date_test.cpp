#include <hocket/http/detail/date.hpp>
#include <ctime>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

namespace {

using namespace hocket::http::detail;

constexpr std::int64_t example = 784'111'777;  // 1994-11-06 08:49:37
constexpr std::int64_t now = 1'796'000'000;    // 2026

std::string text_of(std::int64_t seconds) {
  const date_text text = format_date(seconds);
  return {text.data(), text.size()};
}

TEST_CASE("a date is written as an IMF-fixdate") {
  CHECK(text_of(example) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(text_of(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(text_of(951'782'400) == "Tue, 29 Feb 2000 00:00:00 GMT");
  CHECK(text_of(253'402'300'799) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(text_of(253'402'300'800) == text_of(253'402'300'799));
  CHECK(text_of(-1) == text_of(0));
}

TEST_CASE("dates agree with the C library, and each is read again") {
  for (std::int64_t seconds = 1; seconds < 253'402'300'799; seconds = seconds * 17 / 16 + 40'000'003) {
    const std::time_t time = seconds;
    std::tm parts;
    ::gmtime_r(&time, &parts);
    char expected[64];
    std::strftime(expected, sizeof expected, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    CHECK(text_of(seconds) == expected);
    CHECK(parse_date(expected, now) == seconds);
    std::strftime(expected, sizeof expected, "%a %b %e %H:%M:%S %Y", &parts);
    CHECK(parse_date(expected, now) == seconds);
  }
}

TEST_CASE("all three formats are read") {
  CHECK(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", now) == example);
  CHECK(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", now) == example);
  CHECK(parse_date("Sun Nov  6 08:49:37 1994", now) == example);
  CHECK(parse_date("Sunday, 06-Nov-76 08:49:37 GMT", now) == parse_date("Fri, 06 Nov 2076 08:49:37 GMT", now));
  CHECK(parse_date("Sunday, 06-Nov-77 08:49:37 GMT", now) == parse_date("Sun, 06 Nov 1977 08:49:37 GMT", now));
  CHECK(parse_date("Sat, 31 Dec 2016 23:59:60 GMT", now) == parse_date("Sat, 31 Dec 2016 23:59:59 GMT", now));
}

TEST_CASE("malformed dates are refused") {
  for (const std::string_view text : {"",
                                      "0",
                                      "Sun",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 UTC",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun, 06 nov 1994 08:49:37 GMT",
                                      "Xxx, 06 Nov 1994 08:49:37 GMT",
                                      "Sun, 00 Nov 1994 08:49:37 GMT",
                                      "Sun, 31 Nov 1994 08:49:37 GMT",
                                      "Sun, 29 Feb 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 24:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:60:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:61 GMT",
                                      "Sun, 06 Nov 1994 08-49-37 GMT",
                                      "Sun, 06 Nov -994 08:49:37 GMT",
                                      "Sun, 06 Nov 1969 08:49:37 GMT",
                                      "Sun Nov 6 08:49:37 1994",
                                      "Sun Nov  6 08:49:37 94",
                                      "Sunday, 06 Nov 94 08:49:37 GMT",
                                      "Sunny, 06-Nov-94 08:49:37 GMT",
                                      "Sun, 06-Nov-94 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:37 GMT ",
                                      "un, 06 Nov 1994 08:49:37 GMTx"})
    CHECK_FALSE(parse_date(text, now).has_value());
}

}  // namespace
