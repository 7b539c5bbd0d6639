// Plain handlers run in a job of their connection: what they spawn, and who gets their answers.
#include "unit/http/server/world.hpp"

#include <hocket/core/yield.hpp>

using namespace hocket_test;

namespace {

std::string get(std::string_view target, std::string_view more = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) + "\r\n";
}

}  // namespace

TEST_CASE("spawn without a target spawns into the scope of the server, in whatever pieces the request arrives") {
  int ended = 0;
  const auto count = [&ended]() -> task<> {
    static_cast<void>(co_await sleep_for(1s));
    ++ended;
  };
  http::router all;
  all.before([&](http::request&) -> std::optional<http::response> {
    spawn(count);
    return std::nullopt;
  });
  all.get("/plain", [&](http::request&) {
    spawn(count);
    CHECK(std::string_view(current_context().name()) == "http connection");
    return http::text("plain");
  });
  {
    world w(std::move(all));
    for (const std::size_t piece : {std::size_t{1}, std::size_t{20}, std::string::npos})
      CHECK(statuses_of(w.ask(get("/plain", "Connection: close\r\n"), {.piece = piece})) == std::vector<int>{200});
    w.run([]() -> task<> { static_cast<void>(co_await sleep_for(2s)); }());
    CHECK(ended == 6);
  }
}

TEST_CASE("what a plain handler spawns ends with the server, also if a coroutine has opened it") {
  for (const bool is_shut_down : {false, true}) {
    int begun = 0, ended = 0;
    struct end_count {
      int& count;
      ~end_count() { ++count; }
    };
    auto sleep_for_ever = [&]() -> task<> {
      ++begun;
      const end_count at_end{ended};
      for (;;) static_cast<void>(co_await sleep_for(1h).ignoring(stop_level::cancel));
    };
    manual_clock clock;
    memory_network net({.clock = &clock});
    loop lp({.clock = &clock});
    http::router all;
    all.get("/spawn", [&](http::request&) {
      spawn(sleep_for_ever);
      return http::text("spawned");
    });
    std::optional<http::server> server;
    auto opened = spawn(lp, [&]() -> task<> {
      server.emplace(http::serve(lp, net.listen("10.0.0.1:80").value(), {}, std::move(all)).value());
      co_return;
    });
    lp.run_until(opened);
    auto client = spawn(lp, [&]() -> task<> {
      tcp::stream peer = (co_await net.connect("10.0.0.1:80")).value();
      const std::string request = get("/spawn", "Connection: close\r\n");
      static_cast<void>(co_await peer.write_all(request));
      const conversation reply = co_await world::read_to_end(peer);
      CHECK(reply.bytes.starts_with("HTTP/1.1 200"));
      if (is_shut_down) static_cast<void>(co_await server->graceful_shutdown({}));
    });
    lp.run_until(client);
    CHECK(begun == 1);
    CHECK(ended == 0);
    server.reset();
    CHECK(ended == 1);
  }
}

TEST_CASE("an answer on its way to a peer that has shut down writing is sent whole") {
  const std::string body(300'000, 'x');
  for (const bool is_cancelled : {false, true}) {
    http::router all;
    all.get("/plain", [&body](http::request&) { return http::text(body); });
    all.get("/task", [&body](http::request&) -> task<result<http::response>> {
      static_cast<void>(co_await yield());
      co_return http::text(body);
    });
    http::serve_options options;
    options.cancel_when_half_closed = is_cancelled;
    world w(std::move(all), options, {.min_latency = 1ms, .max_latency = 3ms});
    for (const std::size_t piece : {std::size_t{20}, std::string::npos}) {
      const sending mode{.piece = piece, .pause = 1ms, .half_closes = true};
      const std::vector<answer> answers = read_answers(w.ask(get("/plain"), mode));
      REQUIRE(answers.size() == 1);
      CHECK(answers[0].body.size() == body.size());
    }
    if (!is_cancelled) CHECK(read_answers(w.ask(get("/task"), {.half_closes = true})).at(0).body.size() == body.size());
  }
}
