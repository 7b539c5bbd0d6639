#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/errc.hpp>
#include <hocket/http/percent.hpp>
#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace hocket::http::detail;
namespace http = hocket::http;

struct list {
  std::vector<std::string> elements;
  bool is_malformed = false;
  bool has_empty_elements = false;
  bool operator==(const list&) const = default;
};

list read_list(std::string_view text) {
  list_reader reader(text);
  list read;
  for (std::string_view element; reader.next(element);) read.elements.emplace_back(element);
  read.is_malformed = reader.is_malformed();
  read.has_empty_elements = reader.has_empty_elements();
  return read;
}

TEST_CASE("a list is split at commas outside of quoted strings") {
  const std::vector<std::pair<std::string_view, list>> cases{
      {"", {{}, false, true}},
      {" \t", {{}, false, true}},
      {"a", {{"a"}}},
      {"a,b", {{"a", "b"}}},
      {" a ,\tb\t, c ", {{"a", "b", "c"}}},
      {",a", {{"a"}, false, true}},
      {"a,", {{"a"}, false, true}},
      {"a,,b", {{"a", "b"}, false, true}},
      {"a, ,b", {{"a", "b"}, false, true}},
      {"\"a,b\",c", {{"\"a,b\"", "c"}}},
      {"x=\"a,\\\",b\";y, c", {{"x=\"a,\\\",b\";y", "c"}}},
      {"\"a", {{}, true}},
      {"a, \"b", {{"a"}, true}},
      {"\"a\\\"", {{}, true}},
      {"\"a\\", {{}, true}},
      {"W/\"a,b\", \"c\"", {{"W/\"a,b\"", "\"c\""}}},
      {"a b", {{"a b"}}},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    const list read = read_list(text);
    CHECK(read.elements == expected.elements);
    CHECK(read.is_malformed == expected.is_malformed);
    CHECK(read.has_empty_elements == expected.has_empty_elements);
  }
}

TEST_CASE("a token is found in a list in any case, and not within another element") {
  CHECK(has_token("a, Close", "close"));
  CHECK(has_token("CLOSE", "close"));
  for (const std::string_view text :
       {"", "closed", "xclose", "close;q=1", "\"close\"", "\"a, close, b\"", "clo se", "close=1", "a", "keep-alive"})
    CHECK_FALSE(has_token(text, "close"));
}

TEST_CASE("the quality of an element is read in thousandths") {
  const std::vector<std::pair<std::string_view, int>> cases{{"gzip", 1000},
                                                            {"gzip;q=1", 1000},
                                                            {"gzip;q=0", 0},
                                                            {"gzip; q=0.5", 500},
                                                            {"gzip;Q=0.001", 1},
                                                            {"gzip;q=1.000", 1000},
                                                            {"gzip;a=b; q=0.25", 250},
                                                            {"gzip;q=0.", 0},
                                                            {"gzip;a=\";q=0\"", 1000},
                                                            {"gzip;q=2", -1},
                                                            {"gzip;q=1.001", -1},
                                                            {"gzip;q=0.0001", -1},
                                                            {"gzip;q=", -1},
                                                            {"gzip;q=-1", -1},
                                                            {"gzip;q=a", -1},
                                                            {"gzip;q=0,5", -1},
                                                            {"gzip;q=00", -1},
                                                            {"gzip;a=\"", -1}};
  for (const auto& [element, quality] : cases) {
    CAPTURE(element);
    CHECK(quality_of(element.substr(element.find(';') == element.npos ? element.size() : element.find(';') + 1)) ==
          quality);
  }
  const list_element parts = split_parameters("text/html ; q=0.5;a=\"x;y\"");
  CHECK(parts.name == "text/html");
  CHECK(parts.parameters == "q=0.5;a=\"x;y\"");
}

TEST_CASE("entity tags are quoted, and may be weak") {
  for (const std::string_view tag : {"\"\"", "\"a\"", "W/\"a\"", "\"a,b\"", "\"\\\"", "\"\x80\""})
    CHECK(is_entity_tag(tag));
  for (const std::string_view text :
       {"", "a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "W/", "\"a\"b\"", "\"a b\"", "*", "\"\x01\""})
    CHECK_FALSE(is_entity_tag(text));
}

TEST_CASE("percent signs are decoded, or the text is refused") {
  const std::vector<std::pair<std::string_view, std::string_view>> good{
      {"", ""},     {"a", "a"},       {"%41", "A"}, {"%4a%4A", "JJ"},       {"a%20b", "a b"},
      {"%25", "%"}, {"%2541", "%41"}, {"+", "+"},   {"%c3%a4", "\xc3\xa4"}, {"%7E", "~"}};
  for (const auto& [text, decoded] : good) {
    CHECK(http::percent_decode(text).value() == decoded);
    std::string in_place(text);
    const auto size = percent_decode_to(in_place, in_place.data());
    REQUIRE(size.has_value());
    CHECK(in_place.substr(0, *size) == decoded);
  }
  CHECK(http::percent_decode("a+b%2B", http::plus_sign::space).value() == "a b+");
  CHECK(http::percent_decode("%00").value() == std::string(1, '\0'));
  for (const std::string_view text :
       {"%", "%4", "a%", "%g1", "%1g", "%%41", "%u0041", "% 1", "%+1", "%-1", "%4%", "%\x80\x80"}) {
    const auto decoded = http::percent_decode(text);
    REQUIRE_FALSE(decoded.has_value());
    CHECK(decoded.error() == http::errc::bad_request);
  }
}

TEST_CASE("an encoded text consists of unreserved characters and decodes to the original") {
  std::string all;
  for (int i = 0; i != 256; ++i) all.push_back(static_cast<char>(i));
  const std::string encoded = http::percent_encode(all);
  for (const char c : encoded) CHECK((c == '%' || is_in(unreserved, c)));
  CHECK(http::percent_decode(encoded).value() == all);
  CHECK(http::percent_encode("a b/c~") == "a%20b%2Fc~");
}

}  // namespace
