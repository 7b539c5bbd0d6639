// Requests and answers of a connection: keep-alive, pipelining, versions, methods.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

http::response hello(http::request&) { return http::text("hello"); }
http::response echo_path(http::request& rq) { return http::text(std::string(rq.path())); }
task<result<http::response>> hello_later(http::request& rq) {
  static_cast<void>(co_await sleep_for(1ms));
  co_return http::text(std::string(rq.path()));
}
http::response no_content(http::request&) { return http::empty(); }
http::response not_modified(http::request&) { return http::empty(http::status::not_modified); }

http::router routes() {
  http::router all;
  all.get("/hello", hello);
  all.get("/plain/{x}", echo_path);
  all.get("/task/{x}", hello_later);
  all.get("/empty", no_content);
  all.get("/same", not_modified);
  return all;
}

std::string get(std::string_view target, std::string_view more = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) + "\r\n";
}

}  // namespace

TEST_CASE("a connection answers one request after the other, and closes after the idle time") {
  world w(routes());
  const conversation reply = w.talk(get("/hello") + get("/hello"));
  const std::vector<answer> answers = read_answers(reply.bytes);
  REQUIRE(answers.size() == 2);
  for (const answer& each : answers) {
    CHECK(each.status == 200);
    CHECK(each.body == "hello");
    CHECK(each.field("content-length") == "5");
    CHECK(each.field("date").size() == 29);
    CHECK(each.field("connection") == "");
  }
  CHECK(is_idle_time(reply.time, 60s));
}

TEST_CASE("answers leave in the order of the requests, whatever kind their handlers are") {
  world w(routes());
  std::string sent;
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    const std::string path = (i % 3 == 1 ? "/task/" : "/plain/") + std::to_string(i);
    sent += get(path);
    expected.push_back(path);
  }
  const std::vector<answer> answers = read_answers(w.ask(sent));
  REQUIRE(answers.size() == expected.size());
  for (std::size_t i = 0; i < answers.size(); ++i) CHECK(answers[i].body == expected[i]);
}

TEST_CASE("pipelined requests that arrive in any pieces have the same answers") {
  world w(routes());
  const std::string sent = get("/plain/1") + get("/task/2") + get("/none") + get("/plain/3");
  const std::string expected = w.ask(sent);
  CHECK(statuses_of(expected) == std::vector<int>{200, 200, 404, 200});
  for (std::size_t piece = 1; piece < sent.size(); ++piece) {
    CAPTURE(piece);
    const std::string reply = w.ask(sent, {.piece = piece, .pause = 1ms});
    CHECK(statuses_of(reply) == statuses_of(expected));
    CHECK(reply.size() == expected.size());
  }
}

TEST_CASE("answers of plain handlers that are ready together leave in one write") {
  world w(routes(), {}, {.min_latency = 1ms, .max_latency = 5ms});
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string sent = get("/plain/1") + get("/plain/2") + get("/plain/3");
    static_cast<void>(co_await peer.write_all(sent));
    std::vector<char> buffer(4096);
    const std::size_t n = (co_await peer.read_some(buffer)).value();
    CHECK(statuses_of({buffer.data(), n}) == std::vector<int>{200, 200, 200});
  }(w));
}

TEST_CASE("answers that are ready leave before a handler suspends") {
  http::router all = routes();
  all.get("/never", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1h));
    co_return http::text("late");
  });
  world w(std::move(all));
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string sent = get("/plain/1") + get("/plain/2") + get("/never");
    static_cast<void>(co_await peer.write_all(sent));
    std::vector<char> buffer(4096);
    const std::size_t n = (co_await within(1s, peer.read_some(buffer))).value();
    CHECK(statuses_of({buffer.data(), n}) == std::vector<int>{200, 200});
  }(w));
}

TEST_CASE("answers that are ready leave before the rest of a head has arrived") {
  world w(routes());
  const std::string sent = get("/plain/1") + get("/plain/2");
  for (std::size_t size = get("/plain/1").size() + 1; size < sent.size(); ++size) {
    CAPTURE(size);
    w.run([](world& in, std::string_view begin) -> task<> {
      tcp::stream peer = co_await in.connect();
      static_cast<void>(co_await peer.write_all(begin));
      std::vector<char> buffer(4096);
      const result<std::size_t> n = co_await within(1s, peer.read_some(buffer));
      CHECK(statuses_of({buffer.data(), n.value_or(0)}) == std::vector<int>{200});
    }(w, std::string_view(sent).substr(0, size)));
  }
}

TEST_CASE("thousands of pipelined requests are answered in order") {
  world w(routes());
  std::string sent;
  for (int i = 0; i < 5'000; ++i) sent += get("/plain/" + std::to_string(i));
  const std::vector<answer> answers = read_answers(w.ask(sent));
  REQUIRE(answers.size() == 5'000);
  for (int i = 0; i < 5'000; ++i) CHECK(answers[static_cast<std::size_t>(i)].body == "/plain/" + std::to_string(i));
}

TEST_CASE("a peer that sends requests and reads no answer is given up") {
  world w(routes());
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string request = get("/plain/1");
    for (;;) {
      const result<std::size_t> sent = co_await within(1min, peer.write_all(request));
      if (!sent) break;
    }
    static_cast<void>(co_await sleep_for(1min));
    CHECK(in.server->connections() == 0);
  }(w));
}

TEST_CASE("the answer to CONNECT closes the connection, and no byte behind it is parsed") {
  world w(routes());
  const std::string sent = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::vector<answer> answers = read_answers(w.ask(sent));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].status >= 400);
  CHECK(answers[0].field("connection") == "close");
  // A 2xx of CONNECT has no framing and no body (RFC 9110, 9.3.6).
  http::router all;
  all.after([](http::request&, http::response& answer) { answer.set_status(http::status::ok); });
  world accepting(std::move(all));
  const std::string reply = accepting.ask(sent);
  CHECK(reply.starts_with("HTTP/1.1 200"));
  CHECK(reply.ends_with("\r\n\r\n"));
  CHECK(reply.find("Content-Length") == std::string::npos);
  CHECK(reply.find("Connection: close") != std::string::npos);
}

TEST_CASE("a connection is kept or closed as version and field Connection say") {
  struct row {
    const char* head;
    bool closes;
    const char* field;
  };
  const row rows[] = {
      {"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n", false, ""},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", true, "close"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", true, "close"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: x, close\r\n\r\n", true, "close"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: close\r\n\r\n", true, "close"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", false, ""},
      {"GET /hello HTTP/1.0\r\n\r\n", true, "close"},
      {"GET /hello HTTP/1.0\r\nHost: a\r\n\r\n", true, "close"},
      {"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, "keep-alive"},
      {"GET /hello HTTP/1.0\r\nConnection: close\r\n\r\n", true, "close"},
      {"GET /hello HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", true, "close"},
  };
  world w(routes());
  for (const row& each : rows) {
    CAPTURE(each.head);
    const conversation reply = w.talk(std::string(each.head) + get("/hello"));
    const std::vector<answer> answers = read_answers(reply.bytes);
    REQUIRE(answers.size() == (each.closes ? 1 : 2));
    CHECK(answers[0].field("connection") == each.field);
    CHECK((each.closes ? reply.time == 0s : is_idle_time(reply.time, 60s)));
  }
}

TEST_CASE("HEAD, 204 and 304 have no body, and the next answer follows at once") {
  world w(routes());
  const std::string sent = "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n" + get("/empty") + get("/same") + get("/hello");
  const std::string reply = w.ask(sent);
  answer_reader reader(reply);
  const answer head = reader.next(true).value();
  CHECK(head.status == 200);
  CHECK(head.field("content-length") == "5");
  const answer empty = reader.next().value();
  CHECK(empty.status == 204);
  CHECK(empty.field("content-length") == "");
  CHECK(reader.next().value().status == 304);
  CHECK(reader.next().value().body == "hello");
  CHECK(reader.rest().empty());
}

TEST_CASE("a peer that has shut down writing gets all answers") {
  world w(routes());
  const conversation reply = w.talk(get("/task/1") + get("/plain/2"), {.half_closes = true});
  CHECK(statuses_of(reply.bytes) == std::vector<int>{200, 200});
  CHECK(reply.time < 1s);
}

TEST_CASE("an empty line before a request is skipped") {
  world w(routes());
  CHECK(statuses_of(w.ask("\r\n" + get("/hello") + "\r\n" + get("/hello"))) == std::vector<int>{200, 200});
}

TEST_CASE("the counts of a server tell answers and bytes") {
  world w(routes());
  const std::string reply = w.ask(get("/hello") + get("/none") + get("/hello"));
  const http::request_counts counts = w.server->requests();
  CHECK(counts.answers[2] == 2);
  CHECK(counts.answers[4] == 1);
  CHECK(counts.bytes_out == reply.size());
  CHECK(w.server->counts().completed == 1);
}
