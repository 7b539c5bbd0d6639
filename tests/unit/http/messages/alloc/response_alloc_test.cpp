// The allocations of messages: a small answer needs none, and each failing one is reported.
#include "support/alloc.hpp"
#include "unit/http/made_request.hpp"

#include <hocket/http/detail/response_head.hpp>
#include <hocket/http/response.hpp>

#include <array>
#include <doctest/doctest.h>
#include <new>
#include <string>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a response with a viewed text and 240 bytes of fields allocates nothing") {
  http::detail::output to;
  to.prepare(1);  // the output's block is the connection's
  const allocation_watch watch;
  http::response holder = http::text("hello").set("X-One", "1").append("X-Two", "2");
  http::response answer(std::move(holder));
  answer.set("X-Fill", std::string_view("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
                                        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"));
  CHECK(http::detail::response_access::fields(answer).text().size() <= http::detail::field_buffer::inline_size);
  const auto plan = http::detail::plan_body(answer, http::method::get, 1);
  http::detail::write_head(answer, {.date = "Sun, 06 Nov 1994 08:49:37 GMT", .body = plan}, to);
  http::response redirected = http::redirect("/users/7");
  http::response missing = http::empty(http::status::not_found);
  CHECK(watch.allocations() == 0);
}

TEST_CASE("fields beyond 240 bytes take one allocation, and a failed one changes nothing") {
  http::response answer = http::text("hello");
  const std::string fields(http::detail::response_access::fields(answer).text());
  const std::string value(300, 'v');
  {
    const allocation_watch watch(1);
    CHECK_THROWS_AS(answer.append("X", value), std::bad_alloc);
  }
  CHECK(http::detail::response_access::fields(answer).text() == fields);
  {
    const allocation_watch watch(1);
    CHECK_THROWS_AS(answer.set("Content-Type", value), std::bad_alloc);
  }
  CHECK(answer.header("Content-Type") == "text/plain; charset=utf-8");
  const allocation_watch watch;
  answer.append("X", value);
  CHECK(watch.allocations() == 1);
}

TEST_CASE("what needs no decoding needs no memory") {
  made_request holder("GET /users/7 HTTP/1.1\nHost: a\nX: 1\nCookie: s=1");
  const allocation_watch watch;
  CHECK(holder->path() == "/users/7");
  CHECK(holder->header("X") == "1");
  CHECK(holder->cookie("s") == "1");
  CHECK_FALSE(holder->query("q").has_value());
  CHECK(holder->get<int>() == nullptr);
  CHECK(watch.allocations() == 0);
}

TEST_CASE("decoding reports a failed allocation, and succeeds afterwards") {
  for (const std::size_t size : {std::size_t{10}, std::size_t{5000}}) {
    made_request holder("GET /%41" + std::string(size, 'p') + "?a=%41" + std::string(size, 'q') +
                        " HTTP/1.1\nHost: a\nX: 1\nX: 2");
    const auto uses = std::array{+[](http::request& rq) { static_cast<void>(rq.path()); },
                                 +[](http::request& rq) { static_cast<void>(rq.query("a")); },
                                 +[](http::request& rq) { static_cast<void>(rq.header("X")); },
                                 +[](http::request& rq) { rq.emplace<std::array<char, 5000>>(); }};
    for (const auto& use : uses) {
      for (std::size_t nth = 1; nth != 4; ++nth) {
        const allocation_watch watch(nth);
        try {
          use(*holder);
          if (!watch.has_failed()) break;
        } catch (const std::bad_alloc&) {
          CHECK(watch.has_failed());
        }
      }
      use(*holder);
    }
    CHECK(holder->path().size() == size + 2);
    CHECK(holder->query("a")->size() == size + 1);
    CHECK(holder->header("X") == "1, 2");
    CHECK(holder->get<std::array<char, 5000>>() != nullptr);
  }
}
