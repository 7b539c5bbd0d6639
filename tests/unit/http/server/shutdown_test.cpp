// The shutdown of a server, in each phase of a connection, by virtual time.
#include <hocket/net/service.hpp>

#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

std::string get(std::string_view target) { return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

http::router routes() {
  http::router all;
  all.get("/hello", [](http::request&) { return http::text("hello"); });
  all.post("/echo", [](http::request& rq) { return http::text(rq.body()); });
  all.get("/sleep/{s}", [](http::request& rq) -> task<result<http::response>> {
    const int seconds = co_await or_return(rq.path<int>("s"));
    co_await or_return(sleep_for(std::chrono::seconds(seconds)));
    co_return http::text("slept");
  });
  all.get("/stubborn/{s}", [](http::request& rq) -> task<result<http::response>> {
    const int seconds = co_await or_return(rq.path<int>("s"));
    auto sleeping = sleep_for(std::chrono::seconds(seconds)).ignoring(stop_level::cancel);
    static_cast<void>(co_await std::move(sleeping));
    co_return http::text("slept");
  });
  all.get("/events", [](http::request&) {
    return http::stream_body("text/event-stream", [](http::body_writer& out) -> task<result<void>> {
      co_await or_return(out.write_all("data: begin\n\n"));
      static_cast<void>(co_await out.drain_requested());
      co_await or_return(out.write_all("data: end\n\n"));
      co_return {};
    });
  });
  return all;
}

struct outcome_of_shutdown {
  shutdown_report report;
  duration time{};
  conversation reply;
};

// A client sends `before`, the shutdown begins a second later, and the client sends `after` 100 ms later.
outcome_of_shutdown shut_down(std::string_view before, std::string_view after, shutdown_options options) {
  outcome_of_shutdown out;
  world w(routes());
  w.run([](world& in, std::string_view early, std::string_view late, shutdown_options mode,
           outcome_of_shutdown& to) -> task<> {
    tcp::stream peer = co_await in.connect();
    if (!early.empty()) static_cast<void>(co_await peer.write_all(early));
    static_cast<void>(co_await sleep_for(1s));
    auto client = spawn([&]() -> task<conversation> {
      static_cast<void>(co_await sleep_for(100ms));
      if (!late.empty()) static_cast<void>(co_await peer.write_all(late));
      co_return co_await world::read_to_end(peer);
    });
    const time_point begin = in.clock.now();
    to.report = co_await in.server->graceful_shutdown(mode);
    to.time = in.clock.now() - begin;
    result<conversation> reply = co_await client.join();
    to.reply = std::move(reply).value();
  }(w, before, after, options, out));
  return out;
}

constexpr shutdown_options patient{.drain = 10s, .cancel = 1s, .kill = 1s};

}  // namespace

TEST_CASE("idle and unused connections end at once") {
  for (const std::string& before : {std::string(), get("/hello")}) {
    const outcome_of_shutdown out = shut_down(before, "", patient);
    CHECK(out.report.drained == 1);
    CHECK(out.report.cancelled + out.report.killed + out.report.remaining == 0);
    CHECK(out.time < 1s);
    CHECK(statuses_of(out.reply.bytes).size() == (before.empty() ? 0 : 1));
  }
}

TEST_CASE("a request of which a byte has arrived is answered, then its connection closes") {
  const std::string request = get("/hello");
  for (std::size_t size = 1; size < request.size(); ++size) {
    CAPTURE(size);
    const outcome_of_shutdown out = shut_down(request.substr(0, size), request.substr(size) + get("/hello"), patient);
    const std::vector<answer> answers = read_answers(out.reply.bytes);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].status == 200);
    CHECK(answers[0].field("connection") == "close");
    CHECK(out.report.drained == 1);
    CHECK(out.time < 3s);
  }
}

TEST_CASE("a body on its way is read, and answered") {
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc";
  const outcome_of_shutdown out = shut_down(head, "def", patient);
  const std::vector<answer> answers = read_answers(out.reply.bytes);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].body == "abcdef");
  CHECK(answers[0].field("connection") == "close");
  CHECK(out.report.drained == 1);
}

TEST_CASE("a handler that ends within the drain is answered") {
  const outcome_of_shutdown out = shut_down(get("/sleep/5"), "", patient);
  const std::vector<answer> answers = read_answers(out.reply.bytes);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].body == "slept");
  CHECK(answers[0].field("connection") == "close");
  CHECK(out.report.drained == 1);
  CHECK(out.time >= 4s);
  CHECK(out.time < 7s);
}

TEST_CASE("an event stream hears the drain, and ends") {
  const outcome_of_shutdown out = shut_down(get("/events"), "", patient);
  const std::vector<answer> answers = read_answers(out.reply.bytes);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].body == "data: begin\n\ndata: end\n\n");
  CHECK(answers[0].is_complete);
  CHECK(out.report.drained == 1);
  CHECK(out.time < 3s);
}

TEST_CASE("a handler that outlasts the drain is cancelled") {
  const outcome_of_shutdown out = shut_down(get("/sleep/100"), "", patient);
  CHECK(out.report.drained == 0);
  CHECK(out.report.cancelled == 1);
  CHECK(out.report.killed == 0);
  CHECK(out.time == 10s);
}

TEST_CASE("a handler that ignores the cancel is killed") {
  const outcome_of_shutdown out = shut_down(get("/stubborn/100"), "", patient);
  CHECK(out.report.cancelled == 0);
  CHECK(out.report.killed == 1);
  CHECK(out.report.remaining == 0);
  CHECK(out.time == 11s);
  CHECK(out.reply.bytes.empty());
}

TEST_CASE("a handler that cannot be killed is left in the report, and named with its place") {
  http::router all;
  all.get("/deaf", [](http::request&) -> task<result<http::response>> {
    auto sleeping = sleep_for(100s).ignoring(stop_level::kill);
    static_cast<void>(co_await std::move(sleeping));
    co_return http::text("slept");
  });
  http::serve_options options;
  options.connection.location = std::source_location::current();
  world w(std::move(all), options);
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string request = get("/deaf");
    static_cast<void>(co_await peer.write_all(request));
    static_cast<void>(co_await sleep_for(1s));
    shutdown_list stopped;
    const time_point begin = in.clock.now();
    const shutdown_report report =
        co_await in.server->graceful_shutdown({.drain = 10s, .cancel = 1s, .kill = 1s, .stopped = &stopped});
    CHECK(in.clock.now() - begin == 12s);
    CHECK(report.drained + report.cancelled + report.killed == 0);
    CHECK(report.remaining == 1);
    REQUIRE(stopped.coroutines.size() == 1);
    CHECK(stopped.coroutines[0].name == "http connection");
    CHECK(stopped.coroutines[0].step == shutdown_step::none);
    CHECK(stopped.coroutines[0].spawned.find("shutdown_test.cpp:") != std::string::npos);
    static_cast<void>(co_await sleep_for(100s));
    CHECK(in.server->connections() == 0);
  }(w));
}

TEST_CASE("a slow head and a slow body are cancelled at the end of the drain") {
  for (const char* before : {"GET /hel", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc"}) {
    CAPTURE(before);
    const outcome_of_shutdown out = shut_down(before, "", {.drain = 5s, .cancel = 1s, .kill = 1s});
    CHECK(out.report.cancelled == 1);
    CHECK(out.report.killed + out.report.remaining == 0);
    CHECK(out.time == 5s);
  }
}

TEST_CASE("the answers of pipelined requests are complete, and the last one closes") {
  const outcome_of_shutdown out = shut_down(get("/sleep/5") + get("/hello"), get("/hello"), patient);
  const std::vector<answer> answers = read_answers(out.reply.bytes);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].field("connection") == "close");
}
