// Handlers that run as fibers.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>

#include "unit/http/server/world.hpp"

#include <stdexcept>

using namespace hocket_test;

namespace {

struct record {
  int begun = 0, cancelled = 0, destroyed = 0;
};

struct destruction {
  record& seen;
  ~destruction() { ++seen.destroyed; }
};

http::response slept(http::request& rq) {
  static_cast<void>(await(sleep_for(1ms)));
  return http::text(std::string(rq.path()));
}
http::response echo_stream(http::request& rq) {
  std::string all;
  std::array<char, 7> buffer;
  for (;;) {
    const result<std::size_t> n = await(rq.stream().read_some(buffer));
    if (!n || *n == 0) break;
    all.append(buffer.data(), *n);
  }
  return http::text(std::move(all));
}

http::router routes(record& seen) {
  http::router all;
  all.get("/fiber/{x}", {.run = http::in_fiber}, slept);
  all.get("/plain/{x}", [](http::request& rq) { return http::text(std::string(rq.path())); });
  all.post("/echo", {.run = http::in_fiber}, [](http::request& rq) { return http::text(rq.body()); });
  all.post("/stream", {.run = http::in_fiber, .body = http::streamed}, echo_stream);
  all.get("/throw", {.run = http::in_fiber},
          [](http::request&) -> http::response { throw std::runtime_error("secret"); });
  all.get("/never", {.run = http::in_fiber, .within = 5s}, [](http::request&) -> result<http::response> {
    if (const result<void> ended = await(sleep_for(1h)); !ended) return failure(ended.error());
    return http::text("late");
  });
  all.get("/wait", {.run = http::in_fiber}, [&seen](http::request&) {
    const destruction counted{seen};
    ++seen.begun;
    if (!await(sleep_for(1h))) ++seen.cancelled;
    return http::text("late");
  });
  all.get("/stubborn", {.run = http::in_fiber}, [&seen](http::request&) {
    const destruction counted{seen};
    for (;;) static_cast<void>(await(sleep_for(1h).ignoring(stop_level::cancel)));
    return http::text("never");
  });
  return all;
}

std::string get(std::string_view target) { return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

shutdown_report shut_down(record& seen, std::string_view sent, duration& time) {
  world w(routes(seen));
  return w.run([](world& in, std::string_view request, duration& took) -> task<shutdown_report> {
    tcp::stream peer = co_await in.connect();
    static_cast<void>(co_await peer.write_all(request));
    static_cast<void>(co_await sleep_for(1s));
    const time_point begin = in.clock.now();
    const shutdown_report report = co_await in.server->graceful_shutdown({.drain = 10s, .cancel = 1s, .kill = 1s});
    took = in.clock.now() - begin;
    co_return report;
  }(w, sent, time));
}

}  // namespace

TEST_CASE("fibers answer in order, beside plain handlers, in any pieces") {
  record seen;
  world w(routes(seen));
  const std::string sent = get("/plain/1") + get("/fiber/2") + get("/fiber/3") + get("/plain/4");
  for (std::size_t piece = 1; piece <= sent.size(); piece += 7) {
    const std::vector<answer> answers = read_answers(w.ask(sent, {.piece = piece, .pause = 1ms}));
    REQUIRE(answers.size() == 4);
    CHECK(answers[0].body == "/plain/1");
    CHECK(answers[1].body == "/fiber/2");
    CHECK(answers[2].body == "/fiber/3");
    CHECK(answers[3].body == "/plain/4");
  }
}

TEST_CASE("fibers read bodies, whole and in pieces") {
  record seen;
  world w(routes(seen));
  for (const char* target : {"/echo", "/stream"}) {
    const std::string head = "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n";
    const std::string sent = head + "Content-Length: 10\r\n\r\n0123456789" + head +
                             "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n";
    for (std::size_t piece = 1; piece <= sent.size(); piece += 5) {
      CAPTURE(piece);
      const std::vector<answer> answers = read_answers(w.ask(sent, {.piece = piece, .pause = 1ms}));
      REQUIRE(answers.size() == 2);
      CHECK(answers[0].body == "0123456789");
      CHECK(answers[1].body == "0123456789");
    }
  }
}

TEST_CASE("a fiber that throws is 500, one beyond its deadline 504, and the connection goes on") {
  record seen;
  world w(routes(seen));
  const std::string reply = w.ask(get("/throw") + get("/never") + get("/plain/1"));
  CHECK(statuses_of(reply) == std::vector<int>{500, 504, 200});
  CHECK(reply.find("secret") == std::string::npos);
}

TEST_CASE("a fiber whose peer is gone is cancelled") {
  record seen;
  world w(routes(seen));
  w.run([](world& in) -> task<> {
    {
      tcp::stream peer = co_await in.connect();
      const std::string sent = get("/wait");
      static_cast<void>(co_await peer.write_all(sent));
      static_cast<void>(co_await sleep_for(1s));
      static_cast<void>(peer.set_reset_on_close(true));
    }
    while (in.server->connections() != 0) static_cast<void>(co_await sleep_for(1ms));
  }(w));
  CHECK(seen.begun == 1);
  CHECK(seen.cancelled == 1);
  CHECK(seen.destroyed == 1);
}

TEST_CASE("a shutdown cancels fibers at the end of the drain, and kills those that ignore it") {
  record seen;
  duration time{};
  shutdown_report report = shut_down(seen, get("/wait"), time);
  CHECK(report.cancelled == 1);
  CHECK(report.killed == 0);
  CHECK(time == 10s);
  CHECK(seen.cancelled == 1);
  report = shut_down(seen, get("/stubborn"), time);
  CHECK(report.cancelled == 0);
  CHECK(report.killed == 1);
  CHECK(report.remaining == 0);
  CHECK(time == 11s);
  CHECK(seen.destroyed == 2);
}

TEST_CASE("a client that sends requests to fibers without pause does not hold up others") {
  int begun = 0, begun_before = 0;
  event is_busy;
  http::router all;
  all.get("/fiber", {.run = http::in_fiber}, [&](http::request&) {
    if (++begun == 20) is_busy.set();
    return http::text("fiber");
  });
  all.get("/other", [&](http::request&) {
    begun_before = begun;
    return http::text("other");
  });
  world w(std::move(all), {}, {.buffer_size = 1 << 20});
  std::string requests;
  for (int i = 0; i < 4'000; ++i) requests += get("/fiber");
  w.ask_beside_busy_client(requests, is_busy, get("/other"));
  CHECK(begun_before <= 20 + 64 * 16);
}
