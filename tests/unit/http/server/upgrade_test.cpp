// Upgrades: the stream is handed out, with the bytes behind the head.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

// Echoes until the peer's end.
task<result<void>> echo(http::upgraded_stream peer) {
  std::array<char, 5> buffer;
  for (;;) {
    const std::size_t n = co_await or_return(peer.read_some(buffer));
    if (n == 0) co_return {};
    const std::span<const char> bytes(buffer.data(), n);
    co_await or_return(peer.write_all(bytes));
  }
}

// Ends before the task of the function, if nothing keeps it.
struct greeting {
  greeting(const std::string& words) : text(words) {}
  ~greeting() { text = "gone"; }
  std::string text;
};
task<result<void>> greet(http::upgraded_stream peer, const greeting& words) {
  static_cast<void>(co_await sleep_for(1ms));
  co_await or_return(peer.write_all(words.text));
  co_return {};
}

http::router routes() {
  http::router all;
  all.get("/greet", [](http::request&) { return http::upgrade("echo", greet, std::string("hello from a temporary")); });
  all.get("/echo", [](http::request&) { return http::upgrade("echo", echo); });
  all.get("/task", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1ms));
    co_return http::upgrade("echo", echo);
  });
  all.get("/fail", [](http::request&) {
    return http::upgrade("echo",
                         [](http::upgraded_stream) -> task<result<void>> { co_return failure(std::errc::io_error); });
  });
  all.get("/next", [](http::request&) { return http::text("next"); });
  return all;
}

const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
std::string upgrade(std::string_view target, std::string_view fields = "Connection: upgrade\r\nUpgrade: echo\r\n") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

}  // namespace

TEST_CASE("an upgrade hands out the stream, and the bytes behind the head first, in any pieces") {
  world w(routes());
  for (const char* target : {"/echo", "/task"}) {
    const std::string sent = next + upgrade(target) + "hello, this is another protocol" + next;
    for (std::size_t piece = 1; piece <= sent.size(); ++piece) {
      CAPTURE(target);
      CAPTURE(piece);
      const std::string reply = w.ask(sent, {.piece = piece, .pause = 1ms, .half_closes = true});
      answer_reader reader(reply);
      CHECK(reader.next().value().body == "next");
      const answer switched = reader.next().value();
      CHECK(switched.status == 101);
      CHECK(switched.field("connection") == "Upgrade");
      CHECK(switched.field("upgrade") == "echo");
      CHECK(switched.field("content-length") == "");
      CHECK(std::string(reader.rest()) == "hello, this is another protocol" + next);
    }
  }
  CHECK(w.server->connections() == 0);
}

TEST_CASE("a request that asks for no upgrade gets 426, and the connection goes on") {
  const char* rows[] = {"", "Connection: upgrade\r\n", "Upgrade: echo\r\n", "Connection: close\r\nUpgrade: echo\r\n"};
  world w(routes());
  for (const char* fields : rows) {
    CAPTURE(fields);
    const std::vector<answer> answers = read_answers(w.ask(upgrade("/echo", fields) + next));
    REQUIRE_FALSE(answers.empty());
    CHECK(answers[0].status == 426);
    if (!std::string_view(fields).starts_with("Connection: close")) CHECK(answers.size() == 2);
  }
  CHECK(statuses_of(w.ask("GET /echo HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n")) ==
        std::vector<int>{426});
}

TEST_CASE("only a protocol that the client offers is chosen; else 426 names the protocol") {
  constexpr std::string_view ask = "Connection: upgrade\r\n";
  struct row {
    const char* fields;
    bool is_offered;
  };
  constexpr row rows[] = {
      {"Upgrade: echo\r\n", true},
      {"Upgrade: ECHO\r\n", true},
      {"Upgrade: other/1, echo\r\n", true},
      {"Upgrade: other\r\nX: y\r\nUpgrade: echo\r\n", true},
      {"Upgrade:\r\n", false},
      {"Upgrade: other\r\n", false},
      {"Upgrade: ech\r\n", false},
      {"Upgrade: echo/2\r\n", false},
      {"Upgrade: echoes\r\n", false},
      {"Upgrade: other;echo\r\n", false},
      {"Connection: HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", false},
  };
  world w(routes());
  for (const row& each : rows) {
    CAPTURE(each.fields);
    const std::string sent = upgrade("/echo", std::string(ask) + each.fields);
    const std::vector<answer> answers =
        read_answers(w.ask(each.is_offered ? sent : sent + next, {.half_closes = true}));
    REQUIRE_FALSE(answers.empty());
    CHECK(answers[0].status == (each.is_offered ? 101 : 426));
    CHECK(answers[0].field("upgrade") == "echo");
    CHECK(answers[0].field("connection") == "Upgrade");
    if (!each.is_offered) CHECK(answers.size() == 2);
  }
  // Behind which the connection closes.
  const std::vector<answer> closed = read_answers(w.ask(upgrade("/echo", "Connection: close\r\n")));
  REQUIRE(closed.size() == 1);
  CHECK(closed[0].status == 426);
  CHECK(closed[0].field("connection") == "Upgrade, close");
}

TEST_CASE("a handler that demands an upgrade names its protocol") {
  http::router all;
  all.get("/", [](http::request&) { return http::upgrade_required("echo"); });
  world w(std::move(all));
  const std::vector<answer> answers = read_answers(w.ask(upgrade("/", "")));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].status == 426);
  CHECK(answers[0].field("upgrade") == "echo");
  CHECK(answers[0].field("connection") == "Upgrade");
  CHECK(answers[0].body == "Upgrade Required");
  for (const std::string_view protocol : {"", "a\r\nb", "a\n"})
    CHECK_THROWS_AS(static_cast<void>(http::upgrade_required(protocol)), std::system_error);
}

TEST_CASE("an error table that answers by an upgrade upgrades no connection, also not for a head that did not parse") {
  http::router all = routes();
  all.set_error_table([](const http::request&, std::error_code) { return http::upgrade("echo", echo); });
  world w(std::move(all));
  const std::string head = upgrade("/next");  // its head asks, the next one cannot
  CHECK(statuses_of(w.ask(head + "GET / HTTP/1.1\r\nUpgrade: echo\r\nBad Name: x\r\n\r\n")) ==
        std::vector<int>{200, 426});
  CHECK(statuses_of(w.ask("GET /none HTTP/1.1\r\nHost: a\r\n\r\n" + next)) == std::vector<int>{426, 200});
}

TEST_CASE("an upgraded connection has no limit of time, and ends with its function") {
  world w(routes());
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string sent = upgrade("/echo");
    static_cast<void>(co_await peer.write_all(sent));
    std::vector<char> buffer(4096);
    CHECK((co_await peer.read_some(buffer)).value() > 0);
    static_cast<void>(co_await sleep_for(24h));
    static_cast<void>(co_await peer.write_all("still"));
    const std::size_t n = (co_await peer.read_some(buffer)).value();
    CHECK(std::string_view(buffer.data(), n) == "still");
  }(w));
  CHECK(statuses_of(w.ask(upgrade("/fail"))) == std::vector<int>{101});
}

TEST_CASE("the idle time of the server does not end an upgraded connection") {
  http::router all;
  all.get("/idle", [](http::request&) {
    return http::upgrade("idle", [](http::upgraded_stream peer) -> task<result<void>> {
      const result<borrowed_bytes> bytes = co_await peer.stream().read_idle();
      if (bytes) static_cast<void>(co_await peer.write_all(*bytes));
      co_return {};
    });
  });
  world w(std::move(all));
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string request = upgrade("/idle", "Connection: upgrade\r\nUpgrade: idle\r\n");
    std::array<char, 512> buffer;
    static_cast<void>(co_await peer.write_all(request));
    CHECK((co_await peer.read_some(buffer)).value_or(0) != 0);
    static_cast<void>(co_await sleep_for(1h));
    static_cast<void>(co_await peer.write_all("x"));
    CHECK(co_await peer.read_some(buffer) == std::size_t{1});
  }(w));
}

TEST_CASE("a stream that is upgraded behind a request that has waited is the handler's alone") {
  std::vector<http::upgraded_stream> upgraded;
  http::router all;
  all.get("/task", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1ms));
    co_return http::text("waited");
  });
  all.get("/keep", [&upgraded](http::request&) {
    return http::upgrade("keep", [&upgraded](http::upgraded_stream peer) -> task<result<void>> {
      upgraded.push_back(std::move(peer));
      co_return {};
    });
  });
  world w(std::move(all));
  w.run([](world& in, std::vector<http::upgraded_stream>& streams) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string waits = "GET /task HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string keeps = upgrade("/keep", "Connection: upgrade\r\nUpgrade: keep\r\n");
    std::array<char, 512> buffer;
    for (const std::string* sent : {&waits, &keeps}) {
      static_cast<void>(co_await peer.write_all(*sent));
      CHECK((co_await peer.read_some(buffer)).value_or(0) != 0);
    }
    static_cast<void>(co_await sleep_for(1s));
    CHECK(in.server->connections() == 0);
    REQUIRE(streams.size() == 1);
    static_cast<void>(co_await streams[0].write_all("x"));
    CHECK(co_await peer.read_some(buffer) == std::size_t{1});
    peer.close();
    CHECK((co_await streams[0].stream().closed()).has_value());
  }(w, upgraded));
}

TEST_CASE("a temporary that the call of an upgrade makes of an argument lives until its task has ended") {
  world w(routes());
  const std::string reply = w.ask(upgrade("/greet"));
  answer_reader reader(reply);
  CHECK(reader.next().value().status == 101);
  CHECK(std::string(reader.rest()) == "hello from a temporary");
}
