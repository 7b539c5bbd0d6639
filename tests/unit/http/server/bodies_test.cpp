// Bodies of requests: whole, streamed, unread; and 100 Continue.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

http::response echo(http::request& rq) { return http::text(rq.body()); }
task<result<http::response>> echo_later(http::request& rq) {
  static_cast<void>(co_await sleep_for(1ms));
  co_return http::text(rq.body());
}
// Reads through a buffer of `size` bytes.
task<result<http::response>> echo_stream(http::request& rq, std::size_t size) {
  std::string all;
  std::vector<char> buffer(size);
  for (;;) {
    const std::size_t n = co_await or_return(rq.stream().read_some(buffer));
    if (n == 0) break;
    all.append(buffer.data(), n);
  }
  if (const auto sum = rq.stream().trailer("Sum")) all += "|" + std::string(*sum);
  co_return http::text(std::move(all));
}
task<result<http::response>> ignore_stream(http::request&) { co_return http::text("ignored"); }
http::response ignore(http::request&) { return http::text("ignored"); }

http::router routes() {
  http::router all;
  all.post("/plain", echo);
  all.post("/task", echo_later);
  all.post("/stream", {.body = http::streamed}, echo_stream, std::size_t{64});
  all.post("/stream1", {.body = http::streamed}, echo_stream, std::size_t{1});
  all.post("/ignore", {.body = http::streamed, .max_body = std::size_t{1} << 30}, ignore_stream);
  all.post("/ignore-plain", {.body = http::streamed}, ignore);
  all.post("/small", {.max_body = 10}, echo);
  all.get("/next", [](http::request&) { return http::text("next"); });
  return all;
}

std::string post(std::string_view target, std::string_view fields, std::string_view body) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n" + std::string(body);
}
std::string with_length(std::string_view target, std::string_view body, std::string_view more = {}) {
  return post(target, "Content-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more), body);
}
std::string chunked(std::string_view target, std::string_view chunks) {
  return post(target, "Transfer-Encoding: chunked\r\n", chunks);
}
const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

constexpr const char* targets[] = {"/plain", "/task", "/stream", "/stream1"};

}  // namespace

TEST_CASE("a body arrives whole or in pieces, in any pieces, and the next request follows it") {
  world w(routes());
  for (const char* target : targets) {
    for (const bool is_chunked : {false, true}) {
      const std::string sent = (is_chunked ? chunked(target, "3\r\nabc\r\n8;x=y\r\ndefghijk\r\n0\r\n\r\n")
                                           : with_length(target, "abcdefghijk")) +
                               next;
      for (std::size_t piece = 1; piece <= sent.size(); ++piece) {
        CAPTURE(target);
        CAPTURE(piece);
        const std::vector<answer> answers = read_answers(w.ask(sent, {.piece = piece, .pause = 1ms}));
        REQUIRE(answers.size() == 2);
        CHECK(answers[0].status == 200);
        CHECK(answers[0].body == "abcdefghijk");
        CHECK(answers[1].body == "next");
      }
    }
  }
}

TEST_CASE("large bodies arrive whole") {
  world w(routes());
  for (const std::size_t size : {std::size_t{16383}, std::size_t{16384}, std::size_t{16385}, std::size_t{1} << 20}) {
    std::string body(size, 'x');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>('a' + i % 23);
    for (const char* target : targets) {
      if (std::string_view(target) == "/stream1") continue;
      CAPTURE(size);
      CAPTURE(target);
      const std::vector<answer> answers = read_answers(w.ask(with_length(target, body) + next));
      REQUIRE(answers.size() == 2);
      CHECK(answers[0].body.size() == size);
      CHECK((answers[0].body == body));
      CHECK(answers[1].body == "next");
    }
  }
}

TEST_CASE("trailers stay apart from the head, and are readable at the end of the body") {
  world w(routes());
  const std::string sent = chunked("/stream", "3\r\nabc\r\n0\r\nSum: 7\r\nHost: b\r\n\r\n") + next;
  const std::vector<answer> answers = read_answers(w.ask(sent));
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].body == "abc|7");
}

TEST_CASE("a body above the limit is answered with 413, one at the limit is read") {
  world w(routes());
  CHECK(statuses_of(w.ask(with_length("/small", "0123456789") + next)) == std::vector<int>{200, 200});
  CHECK(statuses_of(w.ask(chunked("/small", "a\r\n0123456789\r\n0\r\n\r\n") + next)) == std::vector<int>{200, 200});
  CHECK(statuses_of(w.ask(with_length("/small", "0123456789a") + next)) == std::vector<int>{413});
  const std::vector<answer> answers = read_answers(w.ask(chunked("/small", "b\r\n0123456789a\r\n0\r\n\r\n") + next));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].status == 413);
  CHECK(answers[0].field("connection") == "close");
}

TEST_CASE("an unread body is dropped up to the limit, and the connection goes on") {
  struct row {
    std::size_t size;
    bool goes_on;
  };
  const row rows[] = {{1, true}, {1000, true}, {262144, true}, {262145, false}, {1 << 20, false}};
  for (const char* target : {"/ignore", "/none", "/ignore-plain"}) {
    world w(routes());
    for (const row& each : rows) {
      CAPTURE(target);
      CAPTURE(each.size);
      if (std::string_view(target) == "/ignore-plain" && each.size > (1 << 20)) continue;
      const std::string reply = w.ask(with_length(target, std::string(each.size, 'x')) + next);
      const std::vector<answer> answers = read_answers(reply);
      REQUIRE(answers.size() == (each.goes_on ? 2 : 1));
      CHECK(answers[0].field("connection") == (each.goes_on ? "" : "close"));
    }
  }
}

TEST_CASE("an unread chunked body is dropped up to the limit") {
  world w(routes());
  const std::string chunk = "8000\r\n" + std::string(0x8000, 'x') + "\r\n";
  std::string body;
  for (int i = 0; i < 8; ++i) body += chunk;
  CHECK(statuses_of(w.ask(chunked("/ignore", body + "0\r\n\r\n") + next)).size() == 2);
  CHECK(statuses_of(w.ask(chunked("/ignore", body + "1\r\nx\r\n0\r\n\r\n") + next)).size() == 1);
}

TEST_CASE("an early answer arrives before the body is complete, and the connection goes on behind the body") {
  for (const char* target : {"/ignore", "/none", "/ignore-plain"}) {
    world w(routes());
    CAPTURE(target);
    w.run([](world& in, const char* at) -> task<> {
      tcp::stream peer = co_await in.connect();
      const std::string begin = post(at, "Content-Length: 100\r\n", "abc");
      static_cast<void>(co_await peer.write_all(begin));
      std::vector<char> buffer(4096);
      std::size_t n = (co_await within(1s, peer.read_some(buffer))).value();
      CHECK(statuses_of({buffer.data(), n}).size() == 1);
      const std::string rest = std::string(97, 'x') + next;
      static_cast<void>(co_await peer.write_all(rest));
      n = (co_await within(1s, peer.read_some(buffer))).value();
      const std::vector<answer> answers = read_answers({buffer.data(), n});
      REQUIRE(answers.size() == 1);
      CHECK(answers[0].body == "next");
    }(w, target));
  }
}

TEST_CASE("the interim answer 100 is sent by the first read, if the peer waits for it") {
  for (const char* target : targets) {
    world w(routes());
    CAPTURE(target);
    w.run([](world& in, const char* at) -> task<> {
      tcp::stream peer = co_await in.connect();
      const std::string head = post(at, "Content-Length: 3\r\nExpect: 100-continue\r\n", "");
      static_cast<void>(co_await peer.write_all(head));
      std::vector<char> buffer(4096);
      std::size_t n = (co_await within(1s, peer.read_some(buffer))).value();
      CHECK(std::string_view(buffer.data(), n) == "HTTP/1.1 100 Continue\r\n\r\n");
      static_cast<void>(co_await peer.write_all("abc"));
      n = (co_await within(1s, peer.read_some(buffer))).value();
      const std::vector<answer> answers = read_answers({buffer.data(), n});
      REQUIRE(answers.size() == 1);
      CHECK(answers[0].body == "abc");
      CHECK(answers[0].field("connection") == "");
    }(w, target));
  }
}

TEST_CASE("a peer that does not wait for 100 does not get it") {
  world w(routes());
  for (const char* target : targets) {
    const std::string sent = with_length(target, "abc", "Expect: 100-continue\r\n") + next;
    CHECK(statuses_of(w.ask(sent)) == std::vector<int>{200, 200});
  }
}

// The peer may send the body, or not: the next byte is ambiguous.
TEST_CASE("an early answer instead of 100 closes the connection, and no byte behind it is parsed") {
  const char* rows[] = {"/ignore", "/ignore-plain", "/none", "/stream-none"};
  world w(routes());
  for (const char* target : rows) {
    CAPTURE(target);
    const std::string head = post(target, "Content-Length: 50\r\nExpect: 100-continue\r\n", "");
    const std::string reply = w.ask(head + next, {.piece = head.size(), .pause = 1ms});
    const std::vector<answer> answers = read_answers(reply);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].status != 100);
    CHECK(answers[0].field("connection") == "close");
  }
}

TEST_CASE("no interim answer follows the head of the final one") {
  http::router all;
  all.post("/late/{status}", {.body = http::streamed}, [](http::request& rq) -> task<result<http::response>> {
    auto echo = [](http::body_writer& out, http::request_body& in) -> task<result<void>> {
      std::array<char, 8> buffer;
      co_await or_return(out.write_all("begin "));
      const std::size_t n = co_await or_return(in.read_some(buffer));
      const std::span<const char> piece(buffer.data(), n);
      co_await or_return(out.write_all(piece));
      co_return {};
    };
    const int status = co_await or_return(rq.path<int>("status"));
    co_return http::stream_body("text/plain", echo, std::ref(rq.stream()))
        .set_status(static_cast<http::status>(status));
  });
  world w(std::move(all));
  // Only a successful answer asks for the body, before its head.
  for (const int status : {200, 404}) {
    CAPTURE(status);
    const std::string head =
        post("/late/" + std::to_string(status), "Content-Length: 3\r\nExpect: 100-continue\r\n", "");
    const std::vector<answer> answers = read_answers(w.ask(head + "abc", {.piece = head.size(), .pause = 1s}));
    REQUIRE(answers.size() == (status == 200 ? 2 : 1));
    CHECK(answers.front().status == (status == 200 ? 100 : 404));
    CHECK(answers.back().status == status);
    CHECK(answers.back().body == "begin abc");
    CHECK(answers.back().field("connection") == (status == 200 ? "" : "close"));
  }
}

TEST_CASE("another expectation is answered with 417") {
  world w(routes());
  CHECK(statuses_of(w.ask(with_length("/plain", "abc", "Expect: 101-maybe\r\n") + next)) == std::vector<int>{417});
}

TEST_CASE("a body that ends early gets no answer") {
  world w(routes());
  for (const char* target : {"/plain", "/task"}) {
    CAPTURE(target);
    const std::string sent = post(target, "Content-Length: 10\r\n", "abc");
    CHECK(w.ask(next + sent, {.half_closes = true}).find("200 OK", 20) == std::string::npos);
  }
}

TEST_CASE("the bytes of a body are counted once, also if they are dropped, or if the peer leaves") {
  const std::string body(1000, 'x');
  const std::string chunks = "3e8\r\n" + body + "\r\n0\r\n\r\n";
  struct row {
    std::string sent;
    std::uint64_t bytes;
  };
  for (const row& expected : {row{with_length("/plain", body), 1000}, row{with_length("/task", body), 1000},
                              row{with_length("/stream", body), 1000}, row{with_length("/ignore", body), 1000},
                              row{with_length("/ignore-plain", body), 1000}, row{with_length("/none", body), 1000},
                              row{chunked("/ignore", chunks), 1000}, row{chunked("/stream", chunks), 1000},
                              row{post("/plain", "Content-Length: 1001\r\n", body), 1000},
                              row{post("/stream", "Content-Length: 1001\r\n", body), 1000},
                              row{post("/ignore", "Content-Length: 1001\r\n", body), 1000}}) {
    CAPTURE(expected.sent.substr(0, 60));
    for (const std::size_t piece : {std::size_t{100}, expected.sent.size()}) {
      CAPTURE(piece);
      world w(routes());
      static_cast<void>(w.talk(expected.sent, {.piece = piece, .pause = 1ms, .half_closes = true}));
      CHECK(w.server->requests().bytes_in == expected.bytes);
    }
  }
}

TEST_CASE("whole bodies wait while others fill the memory of the server") {
  http::serve_options options;
  options.limits.max_bodies = 1000;
  http::router all = routes();
  all.post("/slow", [](http::request& rq) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(30s));
    co_return http::text(rq.body());
  });
  world w(std::move(all), options);
  w.run([](world& in) -> task<> {
    const std::string big(900, 'x');
    const std::string slow = with_length("/slow", big, "Connection: close\r\n");
    const std::string plain = with_length("/plain", big, "Connection: close\r\n");
    const time_point begin = in.clock.now();
    // In two pieces: a body that has arrived with its head needs no memory.
    auto first =
        spawn([&]() -> task<conversation> { co_return co_await in.talk_to(slow, {.piece = 500, .pause = 1ms}); });
    static_cast<void>(co_await sleep_for(5s));
    const conversation second = co_await in.talk_to(plain, {.piece = 500, .pause = 1ms});
    CHECK(statuses_of(second.bytes) == std::vector<int>{200});
    CHECK(in.clock.now() - begin >= 30s);
    const result<conversation> earlier = co_await first.join();
    CHECK(statuses_of(earlier->bytes) == std::vector<int>{200});
  }(w));
}
