// Waits of handlers for a body, with limits of their own, and the ends of their connections.
#include <hocket/coro/timeout_task.hpp>
#include <hocket/coro/when_any.hpp>

#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

task<result<http::response>> count_rest(http::request& rq) {
  std::array<char, 64> buffer;
  std::size_t sum = 0;
  for (;;) {
    const std::size_t n = co_await or_return(rq.stream().read_some(buffer));
    if (n == 0) break;
    sum += n;
  }
  co_return http::text(std::to_string(sum));
}
task<result<http::response>> wait_a_second(http::request& rq) {
  std::array<char, 64> buffer;
  const result<std::size_t> first = co_await within(1s, rq.stream().read_some(buffer));
  CHECK((!first && first.error() == std::errc::timed_out));
  co_return co_await count_rest(rq);
}
task<result<http::response>> wait_for_the_first(http::request& rq) {
  std::array<char, 64> buffer;
  auto first = co_await when_any(sleep_for(1s), rq.stream().read_some(buffer));
  CHECK(first.index() == 0);
  co_return co_await count_rest(rq);
}
// As long as the peer may be silent, and longer.
task<result<http::response>> wait_often(http::request& rq) {
  std::array<char, 64> buffer;
  for (;;) {
    const result<std::size_t> n = co_await within(3s, rq.stream().read_some(buffer));
    if (!n && n.error() == std::errc::timed_out) continue;
    if (!n) co_return failure(n.error());
    if (*n == 0) break;
  }
  co_return http::text("end");
}

http::router routes() {
  http::router all;
  all.post("/second", {.body = http::streamed}, wait_a_second);
  all.post("/first", {.body = http::streamed}, wait_for_the_first);
  all.post("/often", {.body = http::streamed}, wait_often);
  all.post("/deadline", {.body = http::streamed, .within = 5s}, count_rest);
  all.post("/stream", {.body = http::streamed}, count_rest);
  all.post("/echo", {.body = http::streamed}, [](http::request& rq) -> task<result<http::response>> {
    auto echo = [](http::body_writer& out, http::request_body& in) -> task<result<void>> {
      co_await or_return(out.write_all("begin"));
      std::array<char, 64> buffer;
      co_await or_return(in.read_some(buffer));
      co_return {};
    };
    co_return http::stream_body("text/plain", echo, std::ref(rq.stream()));
  });
  all.get("/next", [](http::request&) { return http::text("next"); });
  return all;
}

const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
std::string with_length(const char* target) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n";
}
std::string chunked(const char* target) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
}

}  // namespace

TEST_CASE("a handler that ends its own wait for the body may read on, and the connection goes on") {
  for (const char* target : {"/second", "/first"}) {
    CAPTURE(target);
    world w(routes());
    std::string head = with_length(target);
    std::vector<answer> answers = read_answers(w.ask(head + "0123456789" + next, {.piece = head.size(), .pause = 3s}));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].body == "10");
    head = chunked(target);
    answers = read_answers(w.ask(head + "a\r\n0123456789\r\n0\r\n\r\n" + next, {.piece = head.size(), .pause = 3s}));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].body == "10");
    CHECK(answers[1].body == "next");
    CHECK(w.server->counts().cancelled == 0);
  }
}

TEST_CASE("a peer is too slow by the sum of all waits, also if the handler ends each of them") {
  world w(routes());
  const conversation reply = w.talk(with_length("/often") + "012");
  CHECK(statuses_of(reply.bytes) == std::vector<int>{408});
  CHECK(reply.time >= 10s);
  CHECK(reply.time < 11s);
}

TEST_CASE("a route's deadline is 504, also while its handler waits for the body") {
  world w(routes());
  for (const std::string& head : {with_length("/deadline"), chunked("/deadline")}) {
    const std::string reply = w.ask(head, {.piece = head.size(), .pause = 1s});
    CHECK(statuses_of(reply) == std::vector<int>{504});
  }
}

TEST_CASE("a connection whose peer is gone is not counted as cancelled") {
  for (const char* target : {"/stream", "/echo", "/often"}) {
    CAPTURE(target);
    world w(routes());
    w.run([](world& in, const std::string& head) -> task<> {
      {
        tcp::stream peer = co_await in.connect();
        static_cast<void>(co_await peer.write_all(head));
        static_cast<void>(co_await sleep_for(1s));
        static_cast<void>(peer.set_reset_on_close(true));
      }
      while (in.server->connections() != 0) static_cast<void>(co_await sleep_for(1ms));
    }(w, with_length(target)));
    CHECK(w.server->counts().cancelled == 0);
    CHECK(w.server->counts().failed == 0);
    CHECK(w.server->counts().completed == 1);
  }
}
