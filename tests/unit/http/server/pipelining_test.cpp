// Pipelined requests: which answers leave before others, and how long other clients wait.
#include "unit/http/server/world.hpp"

#include <hocket/core/yield.hpp>
#include <hocket/runtime/runtime.hpp>

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
  event may_answer;                // the handler of /wait continues
  std::function<void()> on_call;   // called by each handler

  void add(const http::request& rq) {
    paths.emplace_back(rq.path());
    if (paths.size() == 20) is_busy.set();
    if (on_call) on_call();
  }
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
  all.get("/wait", [&seen](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await seen.may_answer.wait());
    co_return http::text("waited");
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

TEST_CASE("a handler that suspends holds no answer before it") {
  record seen;
  for (const char* before : {"/plain/1", "/task/1"})
    for (const int count : {1, 2, 15, 16, 17, 33}) {
      CAPTURE(before);
      CAPTURE(count);
      world w(routes(seen), {}, {.min_latency = 1ms, .max_latency = 1ms});
      const std::string requests = repeat(get(before), count) + get("/wait") + get("/plain/2");
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
  w.run([](world& in, event& may_answer) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string requests = get("/long") + get("/wait") + get("/plain/2");
    static_cast<void>(co_await peer.write_all(requests));
    std::string reply;
    std::array<char, 1000> buffer;
    while (reply.size() < 15'000 || !read_answers(reply).at(0).is_complete) {
      const result<std::size_t> n = co_await within(1min, peer.read_some(buffer));
      REQUIRE(n.value_or(0) != 0);
      reply.append(buffer.data(), *n);
    }
    CHECK(read_answers(reply).size() == 1);
    may_answer.set();
    reply += (co_await world::read_to_end(peer)).bytes;
    const std::vector<answer> answers = read_answers(reply);
    REQUIRE(answers.size() == 3);
    CHECK(answers[1].body == "waited");
    CHECK(answers[2].body == "plain");
  }(w, seen.may_answer));
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

// A turn of a loop resumes 64 coroutines, or answers as many requests. Then it looks for bytes that have arrived.
TEST_CASE("a client that sends requests without pause does not hold up others") {
  for (const char* first : {"/plain/1", "/yield/1"})
    for (const char* path : {"/plain/1", "/task/1", "/yield/1"}) {
      CAPTURE(first);
      CAPTURE(path);
      record seen;
      world w(routes(seen), {}, {.buffer_size = 1 << 20});
      w.ask_beside_busy_client(get(first) + repeat(get(path), 4'000), seen.is_busy, get("/plain/other"));
      const auto found = std::find(seen.paths.begin(), seen.paths.end(), "/plain/other");
      CHECK(found - seen.paths.begin() <= 20 + 64 + 16);
    }
}

TEST_CASE("a coroutine that is ready does not wait for a client that sends requests without pause") {
  for (const bool has_workers : {false, true})
    for (const char* path : {"/plain/1", "/task/1"}) {
      CAPTURE(has_workers);
      CAPTURE(path);
      std::optional<loop> lp;
      std::optional<runtime> rt;
      if (has_workers) rt.emplace(runtime_options{.workers = 1});
      else lp.emplace();
      record seen;
      std::size_t calls_before = 0;
      auto count_calls = [&]() -> task<> {
        calls_before = seen.paths.size();
        co_return;
      };
      seen.on_call = [&] {
        if (seen.paths.size() != 100) return;
        if (has_workers) spawn(*rt, count_calls);
        else spawn(*lp, count_calls);
      };
      memory_network net({.buffer_size = 1 << 20});
      tcp::listener listener = net.listen("10.0.0.1:80").value();
      http::server server = has_workers ? http::serve(*rt, std::move(listener), {}, routes(seen)).value()
                                        : http::serve(*lp, std::move(listener), {}, routes(seen)).value();
      auto ask = [&]() -> task<> {
        tcp::stream peer = (co_await net.connect("10.0.0.1:80")).value();
        const std::string requests =
            repeat(get(path), 4'000) + "GET /plain/2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        static_cast<void>(co_await peer.write_all(requests));
        static_cast<void>(co_await world::read_to_end(peer));
        static_cast<void>(co_await server.graceful_shutdown({}));
      };
      if (has_workers) sync_wait(spawn(*rt, ask));
      else lp->run_until(spawn(*lp, ask));
      CHECK(calls_before >= 100);
      CHECK(calls_before <= 100 + 64 + 16);
    }
}

TEST_CASE("a shutdown during pipelined requests loses no answer that has begun, and leaves no connection") {
  for (const bool drains : {true, false})
    for (const char* path : {"/plain/1", "/task/1", "/yield/1"})
      for (std::size_t calls = 1; calls <= 40; ++calls) {
        CAPTURE(drains);
        CAPTURE(path);
        CAPTURE(calls);
        record seen;
        world w(routes(seen));
        std::optional<join_handle<shutdown_report>> ending;
        seen.on_call = [&] {
          if (seen.paths.size() != calls) return;
          ending.emplace(spawn(w.lp, [&w, drains]() -> task<shutdown_report> {
            co_return co_await w.server->graceful_shutdown({.drain = drains ? 10s : 0s, .cancel = 1s, .kill = 1s});
          }));
        };
        const std::vector<answer> answers = read_answers(w.ask(repeat(get(path), 100)));
        w.lp.run_until(*ending);
        const shutdown_report report = sync_wait(*ending);
        for (const answer& each : answers) CHECK(each.is_complete);
        CHECK(report.remaining == 0);
        CHECK(w.server->connections() == 0);
        if (!drains) continue;
        CHECK(report.drained == 1);
        REQUIRE(answers.size() == seen.paths.size());
        CHECK(answers.back().field("connection") == "close");
      }
}

TEST_CASE("answers that are ready reach a peer that has shut down writing, also if that cancels handlers") {
  for (const bool is_cancelled : {false, true})
    for (const char* path : {"/task/2", "/yield/2"}) {
      CAPTURE(is_cancelled);
      CAPTURE(path);
      record seen;
      http::serve_options options;
      options.cancel_when_half_closed = is_cancelled;
      world w(routes(seen), options);
      const std::size_t count = read_answers(w.ask(get("/long") + get(path), {.half_closes = true})).size();
      CHECK(count >= (is_cancelled ? 1 : 2));
    }
}
