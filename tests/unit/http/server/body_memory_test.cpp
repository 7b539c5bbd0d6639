// The memory of whole bodies: its limit, its waiters, and its release.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

constexpr std::size_t budget = 1000;

http::response echo(http::request& rq) { return http::text(rq.body()); }
task<result<http::response>> hold(http::request& rq) {
  static_cast<void>(co_await sleep_for(30s));
  co_return http::text(rq.body());
}

// Reads the body at the end of the request.
struct late_reader {
  http::request& rq;
  std::string& seen;
  ~late_reader() { seen = rq.body(); }
};

http::router routes() {
  http::router all;
  all.post("/echo", echo);
  all.post("/hold", hold);
  all.get("/next", [](http::request&) { return http::text("next"); });
  return all;
}
http::serve_options options() {
  http::serve_options small;
  small.limits.max_bodies = budget;
  return small;
}

std::string post(const char* target, std::size_t size, const char* fields) {
  return std::string("POST ") + target + " HTTP/1.1\r\nHost: a\r\n" + fields +
         "Content-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'x');
}
std::string post_and_close(const char* target, std::size_t size) { return post(target, size, "Connection: close\r\n"); }
// In two pieces, because a body that has arrived with its head needs no memory of its own.
constexpr sending in_pieces{.piece = 300, .pause = 1ms};

// How long a body of that size takes to be answered.
task<duration> time_of(world& in, std::size_t size) {
  const time_point begin = in.clock.now();
  const std::string sent = post_and_close("/echo", size);
  const conversation reply = co_await in.talk_to(sent, in_pieces);
  CHECK(statuses_of(reply.bytes) == std::vector<int>{200});
  co_return in.clock.now() - begin;
}

}  // namespace

TEST_CASE("a body larger than the memory of the server is read alone") {
  world w(routes(), options());
  CHECK(w.run(time_of(w, 5 * budget)) < 1s);
  CHECK(w.run(time_of(w, budget)) < 1s);
}

TEST_CASE("the memory of a body is free again, wherever its peer has is_reset") {
  for (const char* target : {"/echo", "/hold"}) {
    const std::string sent = post_and_close(target, budget);
    for (std::size_t size = 100; size <= sent.size(); size += 150) {
      CAPTURE(target);
      CAPTURE(size);
      world w(routes(), options());
      w.run([](world& in, std::string_view begin) -> task<> {
        tcp::stream peer = co_await in.connect();
        static_cast<void>(co_await peer.write_all(begin.substr(0, 90)));
        static_cast<void>(co_await sleep_for(1ms));
        static_cast<void>(co_await peer.write_all(begin.substr(90)));
        static_cast<void>(co_await sleep_for(1ms));
        static_cast<void>(peer.set_reset_on_close(true));
      }(w, std::string_view(sent).substr(0, size)));
      CHECK(w.run(time_of(w, budget)) < 1s);
    }
  }
}

TEST_CASE("a body that waits for memory is not too slow, and later ones do not overtake it") {
  world w(routes(), options());
  w.run([](world& in) -> task<> {
    const std::string holding = post_and_close("/hold", budget - 100);
    const std::string large = post_and_close("/echo", budget);
    const std::string small = post_and_close("/echo", 350);
    auto first = spawn([&]() -> task<conversation> { co_return co_await in.talk_to(holding, in_pieces); });
    static_cast<void>(co_await sleep_for(1s));
    auto second = spawn([&]() -> task<conversation> { co_return co_await in.talk_to(large, in_pieces); });
    static_cast<void>(co_await sleep_for(1s));
    const conversation third = co_await in.talk_to(small, in_pieces);
    CHECK(statuses_of(third.bytes) == std::vector<int>{200});
    CHECK(third.time >= 27s);
    const result<conversation> later = co_await second.join();
    CHECK(statuses_of(later->bytes) == std::vector<int>{200});
    const result<conversation> earlier = co_await first.join();
    CHECK(statuses_of(earlier->bytes) == std::vector<int>{200});
  }(w));
}

TEST_CASE("a body that waits for memory is cancelled at the end of a drain") {
  world w(routes(), options());
  w.run([](world& in) -> task<> {
    const std::string holding = post_and_close("/hold", budget);
    const std::string waiting = post_and_close("/echo", budget);
    auto first = spawn([&]() -> task<conversation> { co_return co_await in.talk_to(holding, in_pieces); });
    static_cast<void>(co_await sleep_for(1s));
    auto second = spawn([&]() -> task<conversation> { co_return co_await in.talk_to(waiting, in_pieces); });
    static_cast<void>(co_await sleep_for(1s));
    const time_point begin = in.clock.now();
    const shutdown_report report = co_await in.server->graceful_shutdown({.drain = 5s, .cancel = 1s, .kill = 1s});
    CHECK(report.cancelled == 2);
    CHECK(report.killed + report.remaining == 0);
    CHECK(in.clock.now() - begin == 5s);
    const result<conversation> waited = co_await second.join();
    CHECK(waited->bytes.empty());
    static_cast<void>(co_await first.join());
  }(w));
}

TEST_CASE("objects of a request are destroyed before its body, however the connection ends") {
  for (const char* fields : {"", "Connection: close\r\n"}) {
    for (const bool is_reset : {false, true}) {
      CAPTURE(fields);
      CAPTURE(is_reset);
      std::string seen;
      http::router all;
      all.post("/late", [&seen](http::request& rq) -> task<result<http::response>> {
        rq.emplace<late_reader>(rq, seen);
        static_cast<void>(co_await sleep_for(10s));
        co_return http::text("done");
      });
      world w(std::move(all));
      const std::string sent = post("/late", 5000, fields);
      w.run([](world& in, std::string_view bytes, bool resets) -> task<> {
        tcp::stream peer = co_await in.connect();
        static_cast<void>(co_await peer.write_all(bytes.substr(0, 1000)));
        static_cast<void>(co_await sleep_for(1ms));
        static_cast<void>(co_await peer.write_all(bytes.substr(1000)));
        static_cast<void>(co_await sleep_for(resets ? 1s : 11s));
        if (resets) static_cast<void>(peer.set_reset_on_close(true));
      }(w, sent, is_reset));
      w.run([](world& in) -> task<> {
        while (in.server->connections() != 0) static_cast<void>(co_await sleep_for(1s));
      }(w));
      CHECK((seen == std::string(5000, 'x')));
    }
  }
}

TEST_CASE("a path without a route is 404, however long its body is") {
  http::serve_options small;
  small.limits.max_body = 10;
  small.limits.max_drain = 100;
  world w(routes(), small);
  const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
  CHECK(statuses_of(w.ask(post("/none", 100, "") + next)) == std::vector<int>{404, 200});
  CHECK(statuses_of(w.ask(post("/none", 101, "") + next)) == std::vector<int>{404});
  CHECK(statuses_of(w.ask(post("/next", 101, "") + next)) == std::vector<int>{405});
  CHECK(statuses_of(w.ask(post("/echo", 11, "") + next)) == std::vector<int>{413});
}

TEST_CASE("the bytes of a body are counted once, also if a malformed head follows") {
  static std::vector<std::uint64_t> sizes;
  sizes.clear();
  http::serve_options logged;
  logged.access_log = [](const http::access_record& record) noexcept { sizes.push_back(record.bytes_in); };
  world w(routes(), logged);
  CHECK(statuses_of(w.ask(post("/echo", 500, "") + "bad\r\n\r\n")) == std::vector<int>{200, 400});
  CHECK(sizes == std::vector<std::uint64_t>{500, 0});
  CHECK(w.server->requests().bytes_in == 500);
}
