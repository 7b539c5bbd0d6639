// FAULTS 45 and 46: short reads and writes, idle and late edges, resets, small windows, from seeds.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

task<result<http::response>> echo_stream(http::request& rq) {
  std::string all;
  std::array<char, 100> buffer;
  for (;;) {
    const std::size_t n = co_await or_return(rq.stream().read_some(buffer));
    if (n == 0) break;
    all.append(buffer.data(), n);
  }
  co_return http::text(std::move(all));
}

http::router routes() {
  http::router all;
  all.get("/hello", [](http::request&) { return http::text("hello"); });
  all.get("/large", [](http::request&) { return http::text(std::string(100'000, 'x')); });
  all.get("/chunks", [](http::request&) {
    return http::stream_body("text/plain", [](http::body_writer& out) -> task<result<void>> {
      for (int i = 0; i < 100; ++i) {
        const std::string piece(static_cast<std::size_t>(i * 7), 'y');
        if (i % 2 == 0) co_await or_return(out.write_all(piece));
        else co_await or_return(out.write(piece));
      }
      co_return {};
    });
  });
  all.post("/echo", [](http::request& rq) { return http::text(rq.body()); });
  all.post("/stream", {.body = http::streamed}, echo_stream);
  return all;
}

std::string get(std::string_view target) { return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n"; }
std::string post(std::string_view target, std::string_view body) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

}  // namespace

TEST_CASE("answers are complete over a network that moves a few bytes at a time") {
  const std::string body(5'000, 'z');
  const std::string sent =
      get("/hello") + post("/echo", body) + get("/large") + get("/chunks") + post("/stream", body) + get("/hello");
  std::size_t chunks = 0;
  for (std::size_t i = 0; i < 100; ++i) chunks += i * 7;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    world w(routes(), {},
            {.seed = seed,
             .min_latency = 10us,
             .max_latency = 3ms,
             .buffer_size = seed % 3 == 0 ? std::size_t{1000} : std::size_t{65536},
             .short_reads = 200,
             .short_writes = 200,
             .idle_edges = 60,
             .late_edges = 60});
    const std::vector<answer> answers = read_answers(w.ask(sent));
    REQUIRE(answers.size() == 6);
    CHECK(answers[0].body == "hello");
    CHECK((answers[1].body == body));
    CHECK(answers[2].body.size() == 100'000);
    CHECK(answers[3].body.size() == chunks);
    CHECK((answers[4].body == body));
    CHECK(answers[5].body == "hello");
    for (const answer& each : answers) CHECK(each.is_complete);
  }
}

TEST_CASE("connections that are reset anywhere leave no connection behind, and others are served") {
  const std::string body(5'000, 'z');
  const std::string sent = get("/hello") + post("/echo", body) + get("/large") + get("/chunks") + post("/stream", body);
  std::size_t complete = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    world w(routes(), {}, {.seed = seed, .min_latency = 10us, .max_latency = 3ms, .short_writes = 20, .resets = 1});
    for (int i = 0; i < 5; ++i)
      if (read_answers(w.ask(sent)).size() == 5) ++complete;
    w.run([](world& in) -> task<> {
      const time_point end = in.clock.now() + 5min;
      while (in.server->connections() != 0 && in.clock.now() < end) static_cast<void>(co_await sleep_for(1s));
    }(w));
    CHECK(w.server->connections() == 0);
    CHECK(w.server->counts().failed == 0);
  }
  CHECK(complete > 0);
  CHECK(complete < 200);
}
