// Times and rates, exact in virtual time.
#include "unit/http/server/world.hpp"

#include <hocket/coro/timeout_task.hpp>

using namespace hocket_test;

namespace {

http::response hello(http::request&) { return http::text("hello"); }
http::response echo(http::request& rq) { return http::text(rq.body()); }
task<result<http::response>> count_stream(http::request& rq) {
  std::array<char, 4096> buffer;
  std::size_t sum = 0;
  for (;;) {
    const std::size_t n = co_await or_return(rq.stream().read_some(buffer));
    if (n == 0) break;
    sum += n;
  }
  co_return http::text(std::to_string(sum));
}
http::response large(http::request&) { return http::text(std::string(std::size_t{1} << 20, 'x')); }
http::response large_stream(http::request&) {
  return http::stream_body("text/plain", [](http::body_writer& out) -> task<result<void>> {
    const std::string piece(4096, 'x');
    for (int i = 0; i < 256; ++i) co_await or_return(out.write_all(piece));
    co_return {};
  });
}

http::router routes() {
  http::router all;
  all.get("/hello", hello);
  all.post("/echo", echo);
  all.post("/stream", {.body = http::streamed}, count_stream);
  all.get("/large", large);
  all.get("/large-stream", large_stream);
  return all;
}

const std::string get = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
std::string post(const char* target, std::size_t size) {
  return std::string("POST ") + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
}

// Reads one byte a `pause` until the stream ends. Returns the number of bytes, and the time.
task<std::pair<std::size_t, duration>> read_slowly(world& in, std::string_view sent, std::size_t piece,
                                                   duration pause) {
  tcp::stream peer = co_await in.connect();
  const time_point begin = in.clock.now();
  static_cast<void>(co_await peer.write_all(sent));
  std::vector<char> buffer(piece);
  std::size_t sum = 0;
  for (;;) {
    static_cast<void>(co_await sleep_for(pause));
    const result<std::size_t> n = co_await peer.read_some(buffer);
    if (!n || *n == 0) break;
    sum += *n;
  }
  co_return std::pair(sum, in.clock.now() - begin);
}

}  // namespace

TEST_CASE("a new connection without a byte is closed after 10 s, without an answer") {
  world w(routes());
  const conversation reply = w.talk("");
  CHECK(reply.bytes.empty());
  CHECK(is_phase_time(reply.time, 10s));
  CHECK_FALSE(reply.error);
}

TEST_CASE("a limit for the first byte may be none, and the idle time is a limit for it, too") {
  for (const duration first_byte : {duration::max(), duration(24h * 40), duration(24h * 25)}) {
    http::serve_options options;
    options.limits.first_byte = first_byte;
    world w(routes(), options);
    CHECK(is_idle_time(w.talk("").time, 60s));
  }
  http::serve_options options;
  options.limits.idle = 3s;
  world w(routes(), options);
  CHECK(is_idle_time(w.talk("").time, 3s));
}

TEST_CASE("an idle connection is closed after 60 s, counted from its last answer") {
  world w(routes());
  CHECK(is_idle_time(w.talk(get).time, 60s));
  CHECK(is_idle_time(w.talk(get + get, {.piece = get.size(), .pause = 59s}).time - 59s, 60s));
}

TEST_CASE("a head that takes longer than 10 s is answered with 408, wherever it stops") {
  world w(routes());
  for (std::size_t size = 1; size < get.size(); ++size) {
    CAPTURE(size);
    const conversation reply = w.talk(get.substr(0, size));
    const std::vector<answer> answers = read_answers(reply.bytes);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].status == 408);
    CHECK(answers[0].field("connection") == "close");
    CHECK(reply.time == 10s);
  }
}

TEST_CASE("a head is slow by its whole time, not by its pauses") {
  world w(routes());
  CHECK(w.talk(get, {.piece = 1, .pause = 300ms}).time < 75s);
  const conversation reply = w.talk(get, {.piece = 1, .pause = 1s});
  CHECK(statuses_of(reply.bytes) == std::vector<int>{408});
  CHECK(reply.time == 10s);
}

TEST_CASE("a silent peer in the middle of a body is answered with 408 after 10 s") {
  world w(routes());
  for (const char* target : {"/echo", "/stream"}) {
    for (const std::size_t size : {0u, 1u, 99u}) {
      CAPTURE(target);
      CAPTURE(size);
      const conversation reply = w.talk(post(target, 100) + std::string(size, 'x'));
      CHECK(statuses_of(reply.bytes) == std::vector<int>{408});
      CHECK(reply.time >= 10s);
      CHECK(reply.time < 11s);
    }
  }
}

TEST_CASE("a body of 1 B/s is ended, one of 2 KB/s is read to its end") {
  world w(routes());
  for (const char* target : {"/echo", "/stream"}) {
    CAPTURE(target);
    const std::string head = post(target, 100'000);
    const conversation slow = w.talk(head + std::string(60, 'x'), {.piece = 1, .pause = 1s});
    CHECK(statuses_of(slow.bytes) == std::vector<int>{408});
    const std::string body(100'000, 'x');
    const conversation fast = w.talk(head + body, {.piece = 2048, .pause = 1s});
    CHECK(statuses_of(fast.bytes) == std::vector<int>{200});
    CHECK(fast.time > 48s);
  }
}

// The head of 68 bytes is sent in pieces, too.
TEST_CASE("the time of a handler does not count for the rate of a body") {
  http::router all;
  all.post("/slow", {.body = http::streamed}, [](http::request& rq) -> task<result<http::response>> {
    std::array<char, 1> buffer;
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(co_await sleep_for(1min));
      co_await or_return(rq.stream().read_some(buffer));
    }
    co_return http::text("done");
  });
  world w(std::move(all));
  const conversation reply = w.talk(post("/slow", 10) + "0123456789");
  CHECK(statuses_of(reply.bytes) == std::vector<int>{200});
  CHECK(is_idle_time(reply.time - 10min, 1min));
}

// Of which all bytes are taken by the peer's system, up to its window.
TEST_CASE(
    "a peer that does not read is given up 10 s after its window is full, and 1 s later for each KB of the window") {
  struct window {
    std::size_t size;
    duration reserve;
  };
  for (const auto& [size, reserve] : {window{1024, 11s}, window{4096, 14s}, window{51'200, 60s}, window{65'536, 60s}})
    for (const char* target : {"/large", "/large-stream"}) {
      CAPTURE(size);
      CAPTURE(target);
      world w(routes(), {}, {.buffer_size = size});
      w.run([](world& in, const char* at, duration most) -> task<> {
        tcp::stream peer = co_await in.connect();
        const std::string sent = std::string("GET ") + at + " HTTP/1.1\r\nHost: a\r\n\r\n";
        static_cast<void>(co_await peer.write_all(sent));
        static_cast<void>(co_await sleep_for(most - 1ms));
        CHECK(in.server->requests().answers[2] == 0);
        static_cast<void>(co_await sleep_for(2ms));
        CHECK(in.server->requests().answers[2] == 1);
        static_cast<void>(co_await sleep_for(10s));
        CHECK(in.server->connections() == 0);
        const conversation reply = co_await world::read_to_end(peer);
        CHECK(reply.bytes.size() < (std::size_t{1} << 20));
        CHECK(reply.error == std::errc::connection_reset);
      }(w, target, reserve));
    }
}

// It takes 24 KB at a time, as a system does that reports room when a part of its buffer is free.
TEST_CASE("a peer that takes bytes in jumps gets all if no pause is longer than its reserve") {
  for (const char* target : {"/large", "/large-stream"}) {
    CAPTURE(target);
    const std::string sent = std::string("GET ") + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for (const auto& [pause, is_complete] : {std::pair<duration, bool>{23s, true}, {39s, false}}) {
      CAPTURE(pause);
      world w(routes(), {}, {.buffer_size = 24 * 1024});
      const auto [all, late] = w.run(read_slowly(w, sent, 24 * 1024, pause));
      CHECK((all > (std::size_t{1} << 20)) == is_complete);
      CHECK(late >= pause);
    }
  }
}

// The window is larger than the reserve: bytes that only this system has are not taken.
TEST_CASE("bytes that the peer's system has not taken give no reserve") {
  http::serve_options options;
  options.limits.first_byte = 1h;
  options.limits.idle = 1h;
  world w(routes(), options, {.min_latency = 5min, .max_latency = 5min});
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    static_cast<void>(co_await peer.write_all("GET /large HTTP/1.1\r\nHost: a\r\n\r\n"));
    static_cast<void>(co_await sleep_for(5min + 10s - 1ms));
    CHECK(in.server->requests().answers[2] == 0);
    static_cast<void>(co_await sleep_for(2ms));
    CHECK(in.server->requests().answers[2] == 1);
  }(w));
}

// The bytes are under way for 2 s, as is the request. No event reports their arrival.
TEST_CASE("a peer that becomes silent is given up a minute after its system took bytes, and a second later at most") {
  world w(routes(), {}, {.min_latency = 2s, .max_latency = 2s});
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const time_point begin = in.clock.now();
    static_cast<void>(co_await peer.write_all("GET /large HTTP/1.1\r\nHost: a\r\n\r\n"));
    std::array<char, 1> byte;
    CHECK((co_await peer.peek(byte)).value_or(0) == 1);
    CHECK(in.clock.now() - begin == 4s);
    const shutdown_report report = co_await in.server->graceful_shutdown({.drain = 24h});
    CHECK(report.drained == 1);
    CHECK(is_phase_time(in.clock.now() - begin, 4s + 1min));
  }(w));
}

TEST_CASE("a deadline of the handler that passes while a write waits resets the connection") {
  event begun;
  http::router all;
  all.get("/in-time", [&begun](http::request&) {
    return http::stream_body("text/plain", [&begun](http::body_writer& out) -> task<result<void>> {
      const std::string body(std::size_t{1} << 20, 'x');
      begun.set();
      co_await or_return(within(5s, out.write_all(body)));
      co_return {};
    });
  });
  world w(std::move(all));
  w.run([](world& in, event& writes) -> task<> {
    tcp::stream peer = co_await in.connect();
    static_cast<void>(co_await peer.write_all("GET /in-time HTTP/1.1\r\nHost: a\r\n\r\n"));
    static_cast<void>(co_await writes.wait());
    const time_point begin = in.clock.now();
    const shutdown_report report = co_await in.server->graceful_shutdown({.drain = 24h});
    CHECK(report.drained == 1);
    CHECK(in.clock.now() - begin == 5s);
    const conversation reply = co_await world::read_to_end(peer);
    CHECK(reply.error == std::errc::connection_reset);
  }(w, begun));
}

TEST_CASE("a peer that reads 1 B/s is given up, one that reads 2 KB/s gets all") {
  for (const char* target : {"/large", "/large-stream"}) {
    CAPTURE(target);
    const std::string sent = std::string("GET ") + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    world w(routes(), {}, {.buffer_size = 4096});
    const auto [few, early] = w.run(read_slowly(w, sent, 1, 1s));
    CHECK(few < 10'000);
    const auto [all, late] = w.run(read_slowly(w, sent, 2048, 1s));
    CHECK(all > (std::size_t{1} << 20));
    CHECK(late > 8min);
  }
}

TEST_CASE("a route's deadline ends its handler: 504, and the connection goes on") {
  http::router all;
  all.get("/never", {.within = 5s}, [](http::request&) -> task<result<http::response>> {
    co_await or_return(sleep_for(1h));
    co_return http::text("late");
  });
  all.get("/hello", hello);
  world w(std::move(all));
  const conversation reply = w.talk("GET /never HTTP/1.1\r\nHost: a\r\n\r\n" + get);
  CHECK(statuses_of(reply.bytes) == std::vector<int>{504, 200});
  CHECK(is_idle_time(reply.time - 5s, 60s));
}

TEST_CASE("other times and rates are set by options") {
  http::serve_options options;
  options.limits.first_byte = 1s;
  options.limits.head = 2s;
  options.limits.idle = 3s;
  options.limits.min_rate = 10;
  options.limits.rate_grace = 4s;
  world w(routes(), options);
  CHECK(is_phase_time(w.talk("").time, 1s));
  CHECK(w.talk("GET").time == 2s);
  CHECK(is_idle_time(w.talk(get).time, 3s));
  const duration time = w.talk(post("/echo", 100)).time;
  CHECK(time >= 4s);
  CHECK(time < 5s);
}
