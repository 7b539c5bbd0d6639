// Server-sent events on connections, in virtual time.
#include <hocket/http/event_stream.hpp>

#include "unit/http/server/world.hpp"

#include <string>

using namespace hocket_test;

namespace {

task<result<void>> count_to(http::event_writer& out, int last) {
  for (int i = 1; i <= last; ++i) {
    const std::string text = std::to_string(i);
    co_await or_return(out.send({.event = "number", .data = text}));
    if (co_await within(1s, out.drain_requested())) break;
  }
  co_return co_await out.send({.event = "goodbye"});
}

// Ends before the task of the function, if nothing keeps it.
struct topic {
  topic(const std::string& words) : name(words) {}
  ~topic() { name = "gone"; }
  std::string name;
};
task<result<void>> send_topic(http::event_writer& out, const topic& subject) {
  static_cast<void>(co_await sleep_for(1ms));
  co_return co_await out.send({.data = subject.name});
}

http::router routes(int* unfinished = nullptr) {
  http::router all;
  all.get("/topic",
          [](http::request&) { return http::event_stream(send_topic, std::string("a topic of the program")); });
  all.get("/three", [](http::request&) { return http::event_stream(count_to, 3); });
  all.get("/endless", [](http::request&) { return http::event_stream(count_to, 1'000'000'000); });
  all.get("/watched", [unfinished](http::request&) {
    return http::event_stream([unfinished](http::event_writer& out) -> task<> {
      ++*unfinished;
      struct guard {
        ~guard() { --*count; }
        int* count;
      } const on_exit{unfinished};
      static_cast<void>(co_await out.keep_alive());
      static_cast<void>(co_await sleep_for(24h));
    });
  });
  all.get("/malformed", [](http::request&) {
    return http::event_stream(
        [](http::event_writer& out) -> task<result<void>> { co_return co_await out.send({.event = "a\nb"}); });
  });
  return all;
}

const std::string three_events =
    "event: number\ndata: 1\n\nevent: number\ndata: 2\n\nevent: number\ndata: 3\n\nevent: goodbye\ndata: \n\n";

}  // namespace

TEST_CASE("events are sent one by one, each as a chunk, with fields that keep caches out") {
  world w(routes());
  const conversation talk = w.talk("GET /three HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::vector<answer> answers = read_answers(talk.bytes);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].is_complete);
  CHECK(answers[0].body == three_events);
  CHECK(answers[0].field("content-type") == "text/event-stream");
  CHECK(answers[0].field("cache-control") == "no-store");
  CHECK(answers[0].field("x-accel-buffering") == "no");
  CHECK(talk.time >= 3s);
  CHECK(talk.time < 4s);
}

TEST_CASE("a client of HTTP/1.0 reads events to the end of the connection") {
  world w(routes());
  const std::vector<answer> answers = read_answers(w.ask("GET /three HTTP/1.0\r\n\r\n"));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].fields.count("transfer-encoding") == 0);
  CHECK(answers[0].body == three_events);
}

TEST_CASE("HEAD of a stream does not begin it") {
  int unfinished = 0;
  world w(routes(&unfinished));
  const std::string bytes = w.ask("HEAD /watched HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(bytes.starts_with("HTTP/1.1 200"));
  CHECK(bytes.ends_with("\r\n\r\n"));
  CHECK(unfinished == 0);
}

TEST_CASE("a stream hears the drain, and says goodbye at once") {
  world w(routes());
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    static_cast<void>(co_await peer.write_all("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n"));
    static_cast<void>(co_await sleep_for(2500ms));
    const time_point begin = in.clock.now();
    const shutdown_report report = co_await in.server->graceful_shutdown({.drain = 60s});
    CHECK(in.clock.now() - begin < 1s);
    CHECK(report.drained == 1);
    CHECK(report.cancelled + report.killed + report.remaining == 0);
    const conversation talk = co_await world::read_to_end(peer);
    const std::vector<answer> answers = read_answers(talk.bytes);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].is_complete);
    CHECK(answers[0].body == three_events);
  }(w));
}

TEST_CASE("a stream is cancelled when its client is gone") {
  int unfinished = 0;
  world w(routes(&unfinished));
  w.run([](world& in, int& count) -> task<> {
    {
      tcp::stream peer = co_await in.connect();
      static_cast<void>(co_await peer.write_all("GET /watched HTTP/1.1\r\nHost: a\r\n\r\n"));
      static_cast<void>(co_await sleep_for(1s));
      CHECK(count == 1);
      static_cast<void>(peer.set_reset_on_close(true));
    }
    static_cast<void>(co_await sleep_for(1s));
    CHECK(count == 0);
  }(w, unfinished));
}

TEST_CASE("a quiet stream is cancelled when its client has closed the connection or has shut down writing") {
  for (const bool has_closed : {false, true}) {
    CAPTURE(has_closed);
    int unfinished = 0;
    world w(routes(&unfinished));
    w.run([](world& in, int& count, bool closes) -> task<> {
      tcp::stream peer = co_await in.connect();
      static_cast<void>(co_await peer.write_all("GET /watched HTTP/1.1\r\nHost: a\r\n\r\n"));
      static_cast<void>(co_await sleep_for(1min));
      CHECK(count == 1);
      if (closes) peer = {};
      else static_cast<void>(peer.shutdown_write());
      static_cast<void>(co_await sleep_for(1s));
      CHECK(count == 0);
      static_cast<void>(co_await sleep_for(1s));
      CHECK(in.server->connections() == 0);
    }(w, unfinished, has_closed));
    CHECK(w.server->counts().cancelled == 0);
    CHECK(w.server->counts().failed == 0);
  }
}

TEST_CASE("a stream of a client that shuts down writing behind its request ends within two seconds") {
  int unfinished = 0;
  world w(routes(&unfinished));
  const conversation talk = w.talk("GET /watched HTTP/1.1\r\nHost: a\r\n\r\n", {.half_closes = true});
  CHECK(talk.time <= 2s);
  CHECK(unfinished == 0);
}

TEST_CASE("a malformed event is not sent, and ends the connection without the end of the body") {
  world w(routes());
  const std::string bytes = w.ask("GET /malformed HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(bytes.find("data:") == std::string::npos);
  CHECK(bytes.find("\r\n0\r\n") == std::string::npos);
}

TEST_CASE("a temporary that the call of a stream makes of an argument lives until its task has ended") {
  world w(routes());
  const std::vector<answer> answers =
      read_answers(w.ask("GET /topic HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].body == "data: a topic of the program\n\n");
}
