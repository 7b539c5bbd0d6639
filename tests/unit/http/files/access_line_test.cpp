// Lines of the access log.
#include <hocket/http/access_log.hpp>

#include "unit/http/made_request.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using hocket_test::made_request;

namespace {

constexpr std::int64_t now = 784111777;

std::string line_of(made_request& rq, const socket_address& client, http::status status) {
  const http::access_record record{.rq = *rq,
                                   .peer = rq->peer(),
                                   .client = client,
                                   .method = rq->method_name(),
                                   .target = rq->target(),
                                   .host = rq->host(),
                                   .status = status,
                                   .bytes_in = 0,
                                   .bytes_out = 42,
                                   .time = {},
                                   .is_complete = true};
  return http::access_line(record, now);
}

}  // namespace

TEST_CASE("a record is written in the combined log format") {
  made_request rq("GET /a?b=c HTTP/1.1\nHost: example.org\nReferer: https://example.org/\nUser-Agent: curl/7.88");
  CHECK(line_of(rq, "192.0.2.1:4711", http::status::not_found) ==
        "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b=c HTTP/1.1\" 404 42 \"https://example.org/\" "
        "\"curl/7.88\"");
  made_request old("GET / HTTP/1.0");
  CHECK(line_of(old, "[2001:db8::1]:80", http::status::ok) ==
        "2001:db8::1 - - [06/Nov/1994:08:49:37 +0000] \"GET / HTTP/1.0\" 200 42 \"-\" \"-\"");
}

TEST_CASE("a head that did not parse, and a peer without an address, have dashes") {
  made_request rq;
  for (const socket_address& client : {socket_address("unix:"), socket_address("unix:/run/x"), socket_address()})
    CHECK(line_of(rq, client, http::status::bad_request) ==
          "- - - [06/Nov/1994:08:49:37 +0000] \"-\" 400 42 \"-\" \"-\"");
}

TEST_CASE("texts of a client cannot end a quoted text or a line") {
  struct row {
    std::string_view sent, written;
  };
  for (const row& expected : {row{"\" 200 0 \"x", "\\x22 200 0 \\x22x"}, row{"\\", "\\x5c"}, row{"a\tb", "a\\x09b"},
                              row{"\xC3\xA4", "\\xc3\\xa4"}, row{"\\x22", "\\x5cx22"}}) {
    made_request rq("GET /x HTTP/1.1\nHost: example.org\nUser-Agent: " + std::string(expected.sent));
    CHECK(line_of(rq, "192.0.2.1:1", http::status::ok) ==
          "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /x HTTP/1.1\" 200 42 \"-\" \"" +
              std::string(expected.written) + "\"");
  }
}
