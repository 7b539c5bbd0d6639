#include "head_cases.hpp"

#include <hocket/http/detail/request_head.hpp>
#include <doctest/doctest.h>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace hocket::http::detail;
using http_wire::head_case;
using outcome = request_head::outcome;
using std::string_view_literals::operator""sv;

struct verdict {
  int status = 0;  // 0: incomplete
  std::string section;
  std::size_t size = 0;
  framing::body_kind kind = framing::body_kind::none;
  bool keeps_alive = false;
  std::string views;
  bool operator==(const verdict&) const = default;
};

// All that a handler gets of a head.
std::string views_of(const request_head& head) {
  const char kind = static_cast<char>('0' + static_cast<int>(head.method()));
  std::string text{kind, static_cast<char>('0' + head.minor_version()), head.parts().has_query ? '?' : '-'};
  const auto append = [&text](std::string_view view) { text.append(view).append("\n"); };
  for (const std::string_view view : {head.method_text(), head.target(), head.path(), head.query(), head.host()})
    append(view);
  for (std::size_t i = 0; i != head.fields().size(); ++i) {
    append(head.fields().name(i));
    append(head.fields().value(i));
    append(to_string(head.fields().known(i)));
  }
  return text;
}

verdict refused(const refusal& error) {
  verdict result;
  result.status = static_cast<int>(error.code);
  result.section = error.section;
  return result;
}

verdict verdict_of(const request_head& head, outcome result) {
  if (result == outcome::incomplete) return {};
  if (result == outcome::refused) return refused(head.error());
  return {200, "", head.size(), head.body().kind, head.body().keeps_alive, views_of(head)};
}

// Parses the pieces that end at these positions. Each piece is at another address.
verdict parse_pieces(std::string_view bytes, const std::vector<std::size_t>& ends, const head_limits& limits = {}) {
  request_head head;
  outcome result = outcome::incomplete;
  std::vector<std::string> copies;
  for (const std::size_t end : ends) {
    if (result != outcome::incomplete) break;
    copies.emplace_back(bytes.substr(0, end));
    result = head.parse(copies.back(), limits);
  }
  return verdict_of(head, result);
}
verdict parse_whole(std::string_view bytes, const head_limits& limits = {}) {
  return parse_pieces(bytes, {bytes.size()}, limits);
}
verdict parse_bytewise(std::string_view bytes, const head_limits& limits = {}) {
  request_head head;
  outcome result = outcome::incomplete;
  for (std::size_t end = 0; end <= bytes.size() && result == outcome::incomplete; ++end)
    result = head.parse(bytes.substr(0, end), limits);
  return verdict_of(head, result);
}

std::string visible(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    if (c == '\r') text += "\\r";
    else if (c == '\n') text += "\\n";
    else if (c < ' ') text += "\\?";
    else text += c;
  }
  return text;
}

framing::body_kind kind_of(http_wire::body b) {
  switch (b) {
    case http_wire::body::none: return framing::body_kind::none;
    case http_wire::body::chunked: return framing::body_kind::chunked;
    case http_wire::body::length_5: return framing::body_kind::length;
  }
  return framing::body_kind::none;
}

void check_case(const head_case& row) {
  const std::string shown = visible(row.bytes);
  CAPTURE(shown);
  const verdict whole = parse_whole(row.bytes);
  CHECK(whole.status == row.status);
  CHECK(whole.section == row.section);
  if (row.status == 200) {
    CHECK(whole.kind == kind_of(row.kind));
    CHECK(whole.keeps_alive == row.keeps_alive);
    const std::size_t body_size = row.kind == http_wire::body::none ? 0 : 5;
    CHECK(whole.size == row.bytes.size() - body_size);
  }
  CHECK((parse_bytewise(row.bytes) == whole));
  for (std::size_t at = 1; at < row.bytes.size(); ++at) {
    const bool is_same = parse_pieces(row.bytes, {at, row.bytes.size()}) == whole;
    CAPTURE(at);
    if (!is_same) CHECK(is_same);
  }
  // What follows a head changes nothing.
  for (const std::string_view behind : {"\r\n"sv, "x"sv, "GET / HTTP/1.1\r\nHost: b\r\n\r\n"sv, "\0\n"sv})
    CHECK((parse_whole(std::string(row.bytes) + std::string(behind)) == whole));
}

TEST_CASE("each head of the table has its verdict, in one piece, byte by byte, and split at each position") {
  for (const head_case& row : http_wire::head_cases()) check_case(row);
}

TEST_CASE("each framing of the table has its verdict, in one piece, byte by byte, and split at each position") {
  for (const head_case& row : http_wire::framing_cases()) check_case(row);
}

TEST_CASE("each prefix of an accepted head is incomplete") {
  for (const head_case& row : http_wire::head_cases()) {
    if (row.status != 200) continue;
    for (std::size_t size = 0; size < row.bytes.size(); ++size)
      if (parse_whole(row.bytes.substr(0, size)).status != 0) {
        const std::string shown = visible(row.bytes.substr(0, size));
        CAPTURE(shown);
        CHECK(parse_whole(row.bytes.substr(0, size)).status == 0);
      }
  }
}

// A request whose line of this kind has `size` bytes.
std::string request_with_line(std::size_t size) {
  std::string line = "GET /";
  line.append(size - line.size() - 9, 'a').append(" HTTP/1.1");
  return line + "\r\nHost: a\r\n\r\n";
}
std::string request_with_field(std::size_t size) {
  std::string field = "X: ";
  field.append(size - field.size(), 'b');
  return "GET / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n\r\n";
}
std::string request_with_name(std::size_t size) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(size - 1, 'n') + ":\r\n\r\n";
}
std::string request_with_fields(std::size_t count) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (std::size_t i = 1; i < count; ++i) text += "X: y\r\n";
  return text + "\r\n";
}
std::string request_of_size(std::size_t size) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  while (size - text.size() > 4000) text.append("X: ").append(3000, 'x').append("\r\n");
  const std::size_t rest = size - text.size() - 2;
  return text.append("X: ").append(rest - 5, 'y').append("\r\n\r\n");
}

void check_boundary(const std::string& good, const std::string& bad, int status, const head_limits& limits = {}) {
  CHECK(parse_whole(good, limits).status == 200);
  CHECK(parse_bytewise(good, limits).status == 200);
  CHECK(parse_whole(bad, limits).status == status);
  CHECK(parse_bytewise(bad, limits).status == status);
}

TEST_CASE("the limits of lines, fields and heads are exact") {
  check_boundary(request_with_line(8192), request_with_line(8193), 414);
  check_boundary(request_with_field(8192), request_with_field(8193), 431);
  check_boundary(request_with_name(8192), request_with_name(8193), 431);
  check_boundary(request_with_fields(100), request_with_fields(101), 431);
  REQUIRE(request_of_size(16 * 1024).size() == 16 * 1024);
  check_boundary(request_of_size(16 * 1024), request_of_size(16 * 1024 + 1), 431);
  check_boundary("\r\n" + request_of_size(16 * 1024 - 2), "\r\n" + request_of_size(16 * 1024 - 1), 431);
  const head_limits narrow{.line = 40, .head = 80, .fields = 3};
  check_boundary(request_with_line(40), request_with_line(41), 414, narrow);
  check_boundary(request_with_field(40), request_with_field(41), 431, narrow);
  check_boundary(request_with_fields(3), request_with_fields(4), 431, narrow);
  check_boundary(request_of_size(80), request_of_size(81), 431, {.line = 80, .head = 80});
}

TEST_CASE("a line that is too long is refused before its end arrives") {
  CHECK(parse_whole("GET /" + std::string(9000, 'a')).status == 414);
  CHECK(parse_bytewise("GET /" + std::string(9000, 'a')).status == 414);
  CHECK(parse_whole("GET / HTTP/1.1\r\nX: " + std::string(9000, 'a')).status == 431);
  CHECK(parse_whole("GET / HTTP/1.1\r\n" + std::string(9000, 'a')).status == 431);
  CHECK(parse_whole(std::string(33, 'A')).status == 501);
  CHECK(parse_whole("GET /aaaaaaaa", {.line = 8192, .head = 13}).status == 414);
}

TEST_CASE("a head that arrives byte by byte reads each byte once") {
  // A quadratic parser would take minutes for this one.
  const std::string request = request_of_size(1 << 20);
  request_head head;
  const head_limits limits{.line = 8192, .head = 1 << 21, .fields = 100};
  outcome result = outcome::incomplete;
  std::size_t end = 0;
  while (end < request.size() && result == outcome::incomplete)
    result = head.parse(std::string_view(request).substr(0, ++end), limits);
  CHECK(result == outcome::refused);  // by its fields
  CHECK(head.error().code == hocket::http::status::request_header_fields_too_large);
}

TEST_CASE("the views of a head have the bytes of the request") {
  const std::string bytes =
      "POST /users/7?x=%41 HTTP/1.1\r\nHost: example.org:80\r\nX-Ab: 1\r\nCookie: a=b\r\nx-AB:  2 3\t\r\ncookie: c\r\n"
      "X-Empty:\r\nContent-Length: 12\r\n\r\n";
  request_head head;
  REQUIRE(head.parse(bytes) == outcome::complete);
  CHECK(head.method() == hocket::http::method::post);
  CHECK(head.method_text() == "POST");
  CHECK(head.target() == "/users/7?x=%41");
  CHECK(head.path() == "/users/7");
  CHECK(head.query() == "x=%41");
  CHECK(head.host() == "example.org:80");
  CHECK(head.minor_version() == 1);
  CHECK(head.body().length == 12);
  const field_table& fields = head.fields();
  REQUIRE(fields.size() == 7);
  CHECK(fields.name(1) == "X-Ab");
  CHECK(fields.value(3) == "2 3");
  CHECK(fields.value(5) == "");
  CHECK(fields.known(2) == known_field::cookie);
  CHECK(fields.find("x-ab") == 1);
  CHECK(fields.find_next(1) == 3);
  CHECK(fields.find_next(3) == field_table::npos);
  CHECK(fields.find(known_field::cookie) == 2);
  CHECK(fields.find_next(2) == 4);
  CHECK(fields.find_next(4) == field_table::npos);
  CHECK(head.find("COOKIE") == "a=b");
  CHECK(head.find("x-empty") == "");
  CHECK_FALSE(head.find("x-none").has_value());
  CHECK_FALSE(head.find(known_field::te).has_value());
}

TEST_CASE("an absolute target replaces Host") {
  request_head head;
  REQUIRE(head.parse("GET http://b:81?q HTTP/1.1\r\nHost: a\r\n\r\n") == outcome::complete);
  CHECK(head.host() == "b:81");
  CHECK(head.path() == "/");
  CHECK(head.query() == "q");
  CHECK(head.parts().scheme == "http");
}

TEST_CASE("a head follows its bytes when they move") {
  for (const std::string_view request :
       {"GET /a?b HTTP/1.1\r\nHost: c\r\n\r\n"sv, "\r\nGET http://c/a?b HTTP/1.1\r\nHost: x\r\n\r\n"sv}) {
    std::string bytes(request);
    request_head head;
    REQUIRE(head.parse(bytes) == outcome::complete);
    const std::string moved = bytes;
    bytes.assign(bytes.size(), '!');
    head.rebase(moved.data());
    CHECK(head.path() == "/a");
    CHECK(head.query() == "b");
    CHECK(head.host() == "c");
    CHECK(head.fields().name(0) == "Host");
  }
}

TEST_CASE("a head is used again after clear") {
  request_head head;
  REQUIRE(head.parse("POST /first HTTP/1.0\r\nX: 1\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\n") ==
          outcome::complete);
  head.clear();
  CHECK_FALSE(head.has_begun());
  REQUIRE(head.parse("\r") == outcome::incomplete);
  CHECK_FALSE(head.has_begun());
  head.clear();
  REQUIRE(head.parse("GET /second HTTP/1.1\r\nHost: h\r\n\r\n") == outcome::complete);
  CHECK(head.has_begun());
  CHECK(head.fields().size() == 1);
  CHECK(head.target() == "/second");
  CHECK(head.body().kind == framing::body_kind::none);
  CHECK_FALSE(head.find("x").has_value());
  head.clear();
  CHECK(head.parse("bad") == outcome::incomplete);
  CHECK(head.parse("bad\n") == outcome::refused);
}

TEST_CASE("100-continue, upgrade and trailers are read from their lists") {
  using flags = std::tuple<std::string_view, bool, bool, bool>;  // fields, expects, upgrades, accepts trailers
  const std::vector<flags> cases{
      {"Expect: 100-continue\r\nContent-Length: 1\r\n", true, false, false},
      {"Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", true, false, false},
      {"Expect: 100-continue\r\n", false, false, false},
      {"Expect: 100-continue\r\nContent-Length: 0\r\n", false, false, false},
      {"Connection: Upgrade\r\nUpgrade: websocket\r\n", false, true, false},
      {"Connection: keep-alive, upgrade\r\nUpgrade: x\r\n", false, true, false},
      {"Connection: keep-alive\r\nConnection: upgrade\r\nUpgrade: x\r\n", false, true, false},
      {"Upgrade: websocket\r\n", false, false, false},
      {"Connection: Upgrade\r\n", false, false, false},
      {"TE: trailers\r\nConnection: TE\r\n", false, false, true},
      {"TE: gzip;q=0.5, Trailers\r\n", false, false, true},
      {"TE: gzip\r\n", false, false, false},
  };
  for (const auto& [fields, expects, upgrades, trailers] : cases) {
    const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
    CAPTURE(request);
    request_head head;
    REQUIRE(head.parse(request) == outcome::complete);
    CHECK(head.body().expects_continue == expects);
    CHECK(head.body().upgrades == upgrades);
    CHECK(head.body().accepts_trailers == trailers);
  }
}

}  // namespace
