// The name under which a browser saves a file.
#include "http/disposition.hpp"

#include <doctest/doctest.h>
#include <initializer_list>
#include <string>
#include <string_view>

using hocket::http::detail::disposition_of;

TEST_CASE("a name of other characters than ASCII is sent in both forms") {
  struct row {
    std::string_view name, value;
  };
  for (const row& expected : {
           row{"report.pdf", "attachment; filename=\"report.pdf\""},
           row{"a b.txt", "attachment; filename=\"a b.txt\""},
           row{"100% \"x\".txt", "attachment; filename=\"100_ _x_.txt\""},
           row{"a/b\\c\r\nd\x7F", "attachment; filename=\"a_b_c__d_\""},
           row{"sn\u2603w 1.txt", "attachment; filename=\"sn_w 1.txt\"; filename*=UTF-8''sn%E2%98%83w%201.txt"},
           row{"\u00DC\U0001F600", "attachment; filename=\"__\"; filename*=UTF-8''%C3%9C%F0%9F%98%80"},
           row{"\u00FC/\\\r\n'%\".txt",
               "attachment; filename=\"_____'__.txt\"; filename*=UTF-8''%C3%BC____%27%25%22.txt"},
           row{"\uD7FF\uE000\uFFFF\U0010FFFF",
               "attachment; filename=\"____\"; filename*=UTF-8''%ED%9F%BF%EE%80%80%EF%BF%BF%F4%8F%BF%BF"},
       }) {
    CAPTURE(expected.name);
    CHECK(disposition_of(expected.name) == expected.value);
  }
}

TEST_CASE("a name that is no UTF-8 is sent in ASCII alone") {
  for (std::string_view bytes :
       {"\x80", "\xC3", "\xC3(", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xE2\x98", "\xE2\x98(", "\xED\xA0\x80",
        "\xF0\x80\x80\xAF", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3\xBC\xFC"}) {
    const std::string value = disposition_of("a" + std::string(bytes) + ".txt");
    CAPTURE(value);
    CHECK(value.starts_with("attachment; filename=\"a_"));
    CHECK(value.ends_with(".txt\""));
    CHECK(value.find("filename*") == value.npos);
  }
}
