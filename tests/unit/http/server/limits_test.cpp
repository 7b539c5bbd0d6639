// Limits of heads and connections, exact.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

http::router routes() {
  http::router all;
  all.get("/{rest...}", [](http::request&) { return http::text("found"); });
  all.get("/wait/{s}", [](http::request& rq) -> task<result<http::response>> {
    const int seconds = co_await or_return(rq.path<int>("s"));
    co_await or_return(sleep_for(std::chrono::seconds(seconds)));
    co_return http::text("waited");
  });
  return all;
}

const std::string good = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

// A request line of that size, without its end.
std::string line_of(std::size_t size) {
  const std::string around = "GET / HTTP/1.1";
  return "GET /" + std::string(size - around.size(), 'a') + " HTTP/1.1";
}

std::vector<int> ask_all_ways(world& w, const std::string& sent) {
  const std::vector<int> whole = statuses_of(w.ask(sent));
  for (const std::size_t piece : {std::size_t{1000}, sent.size() - 1, sent.size() / 2})
    CHECK(statuses_of(w.ask(sent, {.piece = piece, .pause = 1ms})) == whole);
  return whole;
}

}  // namespace

TEST_CASE("a request line at its limit is read, one byte more is 414") {
  world w(routes());
  CHECK(ask_all_ways(w, line_of(8192) + "\r\nHost: a\r\n\r\n" + good) == std::vector<int>{200, 200});
  CHECK(ask_all_ways(w, line_of(8193) + "\r\nHost: a\r\n\r\n" + good) == std::vector<int>{414});
}

TEST_CASE("a field line at its limit is read, one byte more is 431") {
  world w(routes());
  const std::string before = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  CHECK(ask_all_ways(w, before + std::string(8189, 'x') + "\r\n\r\n" + good) == std::vector<int>{200, 200});
  CHECK(ask_all_ways(w, before + std::string(8190, 'x') + "\r\n\r\n" + good) == std::vector<int>{431});
}

TEST_CASE("a head at its limit is read, one byte more is 431") {
  world w(routes());
  const std::string before = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string line = "X: " + std::string(5000, 'x') + "\r\n";
  const std::string begin = before + line + line + line + "Y: ";
  const std::size_t rest = 16 * 1024 - begin.size() - 4;
  CHECK(ask_all_ways(w, begin + std::string(rest, 'y') + "\r\n\r\n" + good) == std::vector<int>{200, 200});
  CHECK(ask_all_ways(w, begin + std::string(rest + 1, 'y') + "\r\n\r\n" + good) == std::vector<int>{431});
}

TEST_CASE("a hundred fields are read, one more is 431") {
  world w(routes());
  std::string fields = "Host: a\r\n";
  for (int i = 1; i < 100; ++i) fields += "X: y\r\n";
  CHECK(ask_all_ways(w, "GET / HTTP/1.1\r\n" + fields + "\r\n" + good) == std::vector<int>{200, 200});
  CHECK(ask_all_ways(w, "GET / HTTP/1.1\r\n" + fields + "X: y\r\n\r\n" + good) == std::vector<int>{431});
}

TEST_CASE("other limits of a head are set by options") {
  http::serve_options options;
  options.limits.max_line = 100;
  options.limits.max_head = 200;
  options.limits.max_fields = 3;
  world w(routes(), options);
  CHECK(statuses_of(w.ask(line_of(100) + "\r\nHost: a\r\n\r\n")) == std::vector<int>{200});
  CHECK(statuses_of(w.ask(line_of(101) + "\r\nHost: a\r\n\r\n")) == std::vector<int>{414});
  CHECK(statuses_of(w.ask("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nX: y\r\n\r\n")) == std::vector<int>{200});
  CHECK(statuses_of(w.ask("GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nX: y\r\nX: y\r\n\r\n")) == std::vector<int>{431});
}

TEST_CASE("above the limit of connections peers wait, or get 503 by option") {
  for (const bool replies : {false, true}) {
    CAPTURE(replies);
    http::serve_options options;
    options.max_connections = 1;
    options.reply_when_full = replies;
    world w(routes(), options);
    w.run([](world& in, bool gets_reply) -> task<> {
      const std::string slow = "GET /wait/5 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      auto first = spawn([&]() -> task<conversation> { co_return co_await in.talk_to(slow, {}); });
      static_cast<void>(co_await sleep_for(1s));
      const time_point begin = in.clock.now();
      const conversation second = co_await in.talk_to(slow, {});
      const std::vector<answer> answers = read_answers(second.bytes);
      REQUIRE(answers.size() == 1);
      CHECK(answers[0].status == (gets_reply ? 503 : 200));
      CHECK(answers[0].field("connection") == "close");
      if (!gets_reply) CHECK(in.clock.now() - begin >= 9s);
      static_cast<void>(co_await first.join());
    }(w, replies));
  }
}

TEST_CASE("the PROXY protocol and forwarded fields name the client, if the peer is trusted") {
  http::router all;
  all.get("/client", [](http::request& rq) {
    return http::text(rq.client().to_string() + " " + std::string(rq.scheme()) + " " + rq.peer().to_string());
  });
  const std::string request =
      "GET /client HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.9\r\nX-Forwarded-Proto: https\r\n\r\n";
  const std::string header = "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n";
  SUBCASE("untrusted") {
    world w(std::move(all));
    const std::string body = read_answers(w.ask(request)).at(0).body;
    CHECK(body.find("192.0.2.9") == std::string::npos);
    CHECK(body.find(" http ") != std::string::npos);
  }
  SUBCASE("trusted") {
    http::serve_options options;
    options.trusted_proxies = "0.0.0.0/0, ::/0, unix";
    world w(std::move(all), options);
    const std::string body = read_answers(w.ask(request)).at(0).body;
    CHECK(body.find("192.0.2.9") == 0);
    CHECK(body.find(" https ") != std::string::npos);
  }
  SUBCASE("with the PROXY protocol, in any pieces") {
    http::serve_options options;
    options.trusted_proxies = "10.0.0.0/8, 127.0.0.0/8, 0.0.0.0";
    options.proxy_protocol = true;
    world w(std::move(all), options);
    const std::string plain = "GET /client HTTP/1.1\r\nHost: a\r\n\r\n";
    for (std::size_t piece = 1; piece < header.size() + 5; ++piece) {
      CAPTURE(piece);
      const std::vector<answer> answers = read_answers(w.ask(header + plain + plain, {.piece = piece, .pause = 1ms}));
      REQUIRE(answers.size() == 2);
      for (const answer& each : answers) CHECK(each.body == "192.0.2.1:56324 http 192.0.2.1:56324");
    }
    CHECK(w.ask(plain).empty());
  }
}
