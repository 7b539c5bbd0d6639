// The head that is sent: status line, fields, framing.
#include <hocket/http/body_writer.hpp>
#include <hocket/http/detail/response_head.hpp>
#include <hocket/http/upgrade.hpp>

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <string_view>

using namespace hocket;
using namespace http::detail;

namespace {

std::string head_of(const http::response& answer, const head_context& context) {
  output to;
  write_head(answer, context, to);
  return std::string(to.bytes());
}

http::response with_status(http::response answer, http::status status) { return std::move(answer.set_status(status)); }
http::response written() {
  return http::stream_body("a/b", [](http::body_writer&) -> task<> { co_return; });
}
http::response written_7() {
  return http::stream_body("a/b", 7, [](http::body_writer&) -> task<> { co_return; });
}

struct plan_row {
  const char* name;
  http::response answer;
  http::method method;
  int minor_version;
  body_plan plan;
};

}  // namespace

TEST_CASE("the plan of a body follows the status, the method and the version") {
  using enum http::status;
  using m = http::method;
  const body_plan none{};
  const auto length = [](std::uint64_t n, bool sends) {
    return body_plan{.end = body_end::length, .length = n, .sends_body = sends};
  };
  const body_plan chunked{.end = body_end::chunked, .sends_body = true};
  std::array rows{
      plan_row{"text", http::text("hello"), m::get, 1, length(5, true)},
      plan_row{"text, 1.0", http::text("hello"), m::get, 0, length(5, true)},
      plan_row{"text, HEAD", http::text("hello"), m::head, 1, length(5, false)},
      plan_row{"text, POST", http::text("hello"), m::post, 1, length(5, true)},
      plan_row{"empty text", http::text(""), m::get, 1, length(0, false)},
      plan_row{"no body", http::response(ok), m::get, 1, length(0, false)},
      plan_row{"no body, HEAD", http::response(ok), m::head, 1, length(0, false)},
      plan_row{"file", http::file_range("a/b", unique_fd(), 3, 9), m::get, 1, length(9, true)},
      plan_row{"file, HEAD", http::file_range("a/b", unique_fd(), 3, 9), m::head, 1, length(9, false)},
      plan_row{"empty file", http::file_range("a/b", unique_fd(), 3, 0), m::get, 1, length(0, false)},
      plan_row{"written", written(), m::get, 1, chunked},
      plan_row{"written, HEAD", written(), m::head, 1, {.end = body_end::chunked}},
      plan_row{"written, 1.0", written(), m::get, 0, {.end = body_end::close, .sends_body = true}},
      plan_row{"written, 1.0, HEAD", written(), m::head, 0, {.end = body_end::close}},
      plan_row{"written with a size", written_7(), m::get, 1, length(7, true)},
      plan_row{"written with a size, 1.0", written_7(), m::get, 0, length(7, true)},
      plan_row{"written with a size, HEAD", written_7(), m::head, 1, length(7, false)},
      plan_row{"204 with text", with_status(http::text("x"), no_content), m::get, 1, none},
      plan_row{"304 with text", with_status(http::text("x"), not_modified), m::get, 1, none},
      plan_row{"304 written", with_status(written(), not_modified), m::get, 1, none},
      plan_row{"103 with text", with_status(http::text("x"), early_hints), m::get, 1, none},
      plan_row{"205 with text", with_status(http::text("x"), reset_content), m::get, 1, length(0, false)},
      plan_row{"404 with text", with_status(http::text("x"), not_found), m::get, 1, length(1, true)},
      plan_row{"upgrade", http::upgrade("p", [](http::upgraded_stream) -> task<result<void>> { co_return {}; }), m::get,
               1, none},
  };
  for (const plan_row& row : rows) {
    CAPTURE(row.name);
    const body_plan plan = plan_body(row.answer, row.method, row.minor_version);
    CHECK(plan.end == row.plan.end);
    CHECK(plan.length == row.plan.length);
    CHECK(plan.sends_body == row.plan.sends_body);
  }
}

TEST_CASE("a head has the status line, the fields, Date, the framing, Connection and an empty line") {
  const http::response answer = http::text("hello").set("X", "y");
  CHECK(head_of(answer, {.date = "Sun, 06 Nov 1994 08:49:37 GMT",
                         .connection = connection_field::close,
                         .body = {.end = body_end::length, .length = 5, .sends_body = true}}) ==
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nX: y\r\n"
        "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
}

TEST_CASE("each field of the server is there only if the context asks for it") {
  const http::response answer;
  CHECK(head_of(answer, {}) == "HTTP/1.1 200 OK\r\n\r\n");
  CHECK(head_of(answer, {.connection = connection_field::keep_alive}) ==
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n");
  CHECK(head_of(answer, {.connection = connection_field::upgrade}) == "HTTP/1.1 200 OK\r\nConnection: Upgrade\r\n\r\n");
  CHECK(head_of(answer, {.body = {.end = body_end::chunked}}) ==
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(head_of(answer, {.body = {.end = body_end::close}}) == "HTTP/1.1 200 OK\r\n\r\n");
}

TEST_CASE("a content length of any size is written in full") {
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{1} << 32, std::numeric_limits<std::uint64_t>::max()}) {
    CHECK(head_of(http::response(), {.body = {.end = body_end::length, .length = length}}) ==
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n");
  }
}

TEST_CASE("every status has three digits and its reason, and a code that is none is a 500") {
  for (int code = 100; code <= 999; ++code) {
    const auto status = static_cast<http::status>(code);
    CHECK(head_of(http::response(status), {}) ==
          "HTTP/1.1 " + std::to_string(code) + " " + std::string(http::reason_of(status)) + "\r\n\r\n");
  }
  for (const int code : {0, 1, 99, 1000, 9999, 65535})
    CHECK(head_of(http::response(static_cast<http::status>(code)), {}) == "HTTP/1.1 500 \r\n\r\n");
}

TEST_CASE("the largest head fits the memory that it is written to") {
  http::response answer(http::status::network_authentication_required);
  answer.set("N", std::string(5000, 'v'));
  const std::string date(29, 'd');
  const std::string head =
      head_of(answer, {.date = date,
                       .connection = connection_field::keep_alive,
                       .body = {.end = body_end::length, .length = std::numeric_limits<std::uint64_t>::max()}});
  CHECK(head.size() == std::string_view("HTTP/1.1 511 Network Authentication Required\r\n").size() + 5005 +
                           std::string_view("Date: \r\n").size() + 29 +
                           std::string_view("Content-Length: 18446744073709551615\r\n").size() +
                           std::string_view("Connection: keep-alive\r\n").size() + 2);
  CHECK(head.ends_with("\r\nConnection: keep-alive\r\n\r\n"));
}

TEST_CASE("heads follow one another in the output") {
  output to;
  write_head(http::response(http::status::ok), {}, to);
  write_head(http::response(http::status::not_found), {}, to);
  CHECK(to.bytes() == "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n");
}
