// Pipelined requests: which answers leave together, and how long others wait for their turn.
#include "unit/http/server/world.hpp"

#include <hocket/core/yield.hpp>

using namespace hocket_test;

namespace {

std::string get(std::string_view target) { return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

struct record {
  std::vector<std::string> paths;  // of requests, in the order of the calls of their handlers
  event is_busy;                   // 20 handlers were called
  int cancelled = 0, ended = 0;

  void add(const http::request& rq) {
    paths.emplace_back(rq.path());
    if (paths.size() == 20) is_busy.set();
  }
};

struct end_count {
  record& seen;
  ~end_count() { ++seen.ended; }
};

http::router routes(record& seen) {
  http::router all;
  all.get("/plain/{x}", [&seen](http::request& rq) {
    seen.add(rq);
    return http::text("plain");
  });
  all.get("/task/{x}", [&seen](http::request& rq) -> task<result<http::response>> {
    seen.add(rq);
    co_return http::text("task");
  });
  all.get("/yield/{x}", [&seen](http::request& rq) -> task<result<http::response>> {
    seen.add(rq);
    static_cast<void>(co_await yield());
    co_return http::text("yield");
  });
  all.get("/sleep/{x}", [&seen](http::request&) -> task<result<http::response>> {
    const end_count at_end{seen};
    if (!co_await sleep_for(1h)) ++seen.cancelled;
    co_return http::text("slept");
  });
  all.get("/stubborn", [&seen](http::request&) -> task<result<http::response>> {
    const end_count at_end{seen};
    for (;;) static_cast<void>(co_await sleep_for(1h).ignoring(stop_level::cancel));
  });
  all.get("/throw", [](http::request&) -> task<result<http::response>> {
    throw std::runtime_error("secret");
    co_return http::text("never");
  });
  all.post("/stream", {.body = http::streamed}, [](http::request& rq) -> task<result<http::response>> {
    std::array<char, 8> buffer;
    const result<std::size_t> n = co_await rq.stream().read_some(buffer);
    if (!n) co_return failure(n.error());
    co_return http::text(std::string(buffer.data(), *n));
  });
  all.get("/long", [](http::request&) { return http::text(std::string(15'000, 'x')); });
  return all;
}

// The statuses that one read of a client returns, for these requests in one write.
std::vector<int> statuses_of_first_read(world& in, std::string_view requests) {
  return in.run([](world& server, std::string_view sent) -> task<std::vector<int>> {
    tcp::stream peer = co_await server.connect();
    static_cast<void>(co_await peer.write_all(sent));
    std::vector<char> buffer(65536);
    const result<std::size_t> n = co_await within(1min, peer.read_some(buffer));
    co_return statuses_of({buffer.data(), n.value_or(0)});
  }(in, requests));
}

}  // namespace

TEST_CASE("answers whose handlers do not suspend leave in one write") {
  const std::vector<std::string> all{get("/plain/1"), get("/task/1"), get("/none"), get("/throw")};
  record seen;
  world w(routes(seen), {}, {.min_latency = 1ms, .max_latency = 5ms});
  for (const std::string& first : all)
    for (const std::string& second : all)
      for (const std::string& third : all) {
        CAPTURE(first + second + third);
        CHECK(statuses_of_first_read(w, first + second + third).size() == 3);
      }
}

TEST_CASE("a handler that suspends holds no answer before it") {
  record seen;
  for (const char* before : {"/plain/1", "/task/1"})
    for (const int count : {1, 2, 15, 16, 17, 33}) {
      CAPTURE(before);
      CAPTURE(count);
      world w(routes(seen), {}, {.min_latency = 1ms, .max_latency = 1ms});
      const std::string requests = repeat(get(before), count) + get("/sleep/1") + get("/plain/2");
      const std::size_t first = statuses_of_first_read(w, requests).size();
      CHECK(first >= static_cast<std::size_t>(std::min(count, 16)));
      CHECK(first <= static_cast<std::size_t>(count));
    }
}

TEST_CASE("a handler that suspends, and those behind it, are answered in order") {
  record seen;
  world w(routes(seen));
  const std::string requests = get("/task/1") + get("/yield/2") + get("/plain/3") + get("/yield/4") + get("/task/5");
  std::vector<std::string> bodies;
  for (const answer& each : read_answers(w.ask(repeat(requests, 50)))) bodies.push_back(each.body);
  REQUIRE(bodies.size() == 250);
  const std::vector<std::string> expected{"task", "yield", "plain", "yield", "task"};
  for (std::size_t i = 0; i < bodies.size(); ++i) CHECK(bodies[i] == expected[i % 5]);
}

TEST_CASE("answers that the network does not take at once leave while the handler behind them waits") {
  record seen;
  world w(routes(seen), {}, {.buffer_size = 4096});
  const std::string reply = w.ask(get("/long") + get("/sleep/1") + get("/plain/2"));
  const std::vector<answer> answers = read_answers(reply);
  REQUIRE(answers.size() == 3);
  CHECK(answers[0].body.size() == 15'000);
  CHECK(answers[1].body == "slept");
  CHECK(answers[2].body == "plain");
}

TEST_CASE("a handler that reads its body sends the interim answer behind the answers before it") {
  for (const std::size_t buffer_size : {std::size_t{4096}, std::size_t{65536}}) {
    record seen;
    world w(routes(seen), {}, {.buffer_size = buffer_size});
    w.run([](world& in) -> task<> {
      tcp::stream peer = co_await in.connect();
      const std::string requests =
          get("/long") + "POST /stream HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
      static_cast<void>(co_await peer.write_all(requests));
      std::string reply;
      std::array<char, 1000> buffer;
      while (statuses_of(reply).size() < 2) {
        const result<std::size_t> n = co_await within(1min, peer.read_some(buffer));
        REQUIRE(n.value_or(0) != 0);
        reply.append(buffer.data(), *n);
      }
      CHECK(statuses_of(reply) == std::vector<int>{200, 100});
      static_cast<void>(co_await peer.write_all(std::string_view("abc")));
      reply += (co_await world::read_to_end(peer)).bytes;
      const std::vector<answer> answers = read_answers(reply);
      REQUIRE(answers.size() == 3);
      CHECK(answers[0].body.size() == 15'000);
      CHECK(answers[2].body == "abc");
    }(w));
  }
}

TEST_CASE("a handler behind answers that are not read is cancelled with the connection") {
  record seen;
  world w(routes(seen), {}, {.buffer_size = 4096});
  w.run([](world& in, record& handlers) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string requests = get("/long") + get("/sleep/1");
    static_cast<void>(co_await peer.write_all(requests));
    static_cast<void>(co_await sleep_for(1min));
    CHECK(handlers.cancelled == 1);
    CHECK(handlers.ended == 1);
    CHECK(in.server->connections() == 0);
  }(w, seen));
}

TEST_CASE("a handler behind answers that are not read is killed by a shutdown") {
  for (const char* handler : {"/sleep/1", "/stubborn"}) {
    record seen;
    world w(routes(seen), {}, {.buffer_size = 4096});
    w.run([](world& in, std::string_view path) -> task<> {
      tcp::stream peer = co_await in.connect();
      const std::string requests = get("/long") + get(path);
      static_cast<void>(co_await peer.write_all(requests));
      static_cast<void>(co_await sleep_for(1s));
      const shutdown_report report = co_await in.server->graceful_shutdown({.drain = 1s, .cancel = 1s, .kill = 1s});
      CHECK(report.remaining == 0);
      CHECK(report.killed == (path == "/stubborn" ? 1 : 0));
    }(w, handler));
    CHECK(seen.ended == 1);
  }
}

// A loop looks for bytes that have arrived after 64 resumes. A resume of the busy connection answers 16 requests.
TEST_CASE("a client that sends requests without pause does not hold up others") {
  for (const char* first : {"/plain/1", "/yield/1"})
    for (const char* path : {"/plain/1", "/task/1", "/yield/1"}) {
      CAPTURE(first);
      CAPTURE(path);
      record seen;
      world w(routes(seen), {}, {.buffer_size = 1 << 20});
      w.ask_beside_busy_client(get(first) + repeat(get(path), 4'000), seen.is_busy, get("/plain/other"));
      const auto found = std::find(seen.paths.begin(), seen.paths.end(), "/plain/other");
      CHECK(found - seen.paths.begin() <= 20 + 64 * 16);
    }
}
