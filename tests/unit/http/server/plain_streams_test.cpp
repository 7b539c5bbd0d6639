// Plain handlers, and steps, of routes with a streamed body: each of them has the stream, whatever the body is.
#include <hocket/core/yield.hpp>

#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

task<result<void>> copy(http::body_writer& out, http::request& rq) {
  std::array<char, 16> buffer;
  while (const std::size_t n = co_await or_return(rq.stream().read_some(buffer))) {
    const std::span<const char> bytes(buffer.data(), n);
    co_await or_return(out.write_all(bytes));
  }
  co_return {};
}

http::response echo(http::request& rq) { return http::stream_body("text/plain", copy, std::ref(rq)); }

std::string size_of(http::request& rq) {
  const std::optional<std::uint64_t> size = rq.stream().size();
  return size ? std::to_string(*size) : "unknown";
}

// The same handler behind a plain step, behind a task, and in front of a step that comes after it.
http::router routes() {
  const http::route_options streamed{.body = http::streamed, .max_body = 10};
  http::router all;
  all.post("/plain", streamed, echo);
  auto before = all.group("/before");
  before.before([](http::request& rq) { rq.emplace<std::string>(size_of(rq)); });
  before.post("/plain", streamed, [](http::request& rq) { return echo(rq).set("X-Size", *rq.get<std::string>()); });
  auto after = all.group("/after");
  after.after([](http::request& rq, http::response& answer) { answer.set("X-Size", size_of(rq)); });
  after.post("/plain", streamed, echo);
  after.post("/task", streamed, [](http::request& rq) -> task<http::response> {
    static_cast<void>(co_await yield());
    co_return echo(rq);
  });
  all.get("/next", [](http::request&) { return http::text("next"); });
  return all;
}

constexpr const char* targets[] = {"/plain", "/before/plain", "/after/plain", "/after/task"};

std::string post(std::string_view target, std::string_view framing) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(framing);
}

const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

}  // namespace

TEST_CASE("a plain handler and plain steps of a streamed route have the stream, also if there is no body") {
  struct row {
    const char* framing;
    const char* body;
    const char* size;
  };
  constexpr row rows[] = {
      {"\r\n", "", "0"},
      {"Content-Length: 0\r\n\r\n", "", "0"},
      {"Content-Length: 5\r\n\r\nhello", "hello", "5"},
      {"Content-Length: 10\r\n\r\n0123456789", "0123456789", "10"},
      {"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", "unknown"},
      {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello", "unknown"},
  };
  world w(routes());
  for (const char* target : targets) {
    for (const row& each : rows) {
      const std::string sent = post(target, each.framing) + next;
      for (const std::size_t piece : {sent.size(), std::size_t{1}}) {
        CAPTURE(target);
        CAPTURE(each.framing);
        CAPTURE(piece);
        const std::vector<answer> answers = read_answers(w.ask(sent, {.piece = piece, .pause = 1ms}));
        REQUIRE(answers.size() == 2);
        CHECK(answers[0].status == 200);
        CHECK(answers[0].body == each.body);
        if (target != std::string_view("/plain")) CHECK(answers[0].field("x-size") == each.size);
        CHECK(answers[1].body == "next");
      }
    }
  }
}

TEST_CASE("a client that waits for 100 gets it before an answer whose function reads the body") {
  world w(routes());
  for (const char* target : targets) {
    for (const char* framing : {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
      CAPTURE(target);
      CAPTURE(framing);
      const bool is_chunked = framing[0] == 'T';
      w.run([](world& in, const std::string& head, bool chunked) -> task<> {
        tcp::stream peer = co_await in.connect();
        static_cast<void>(co_await peer.write_all(head));
        std::array<char, 512> buffer;
        const std::size_t n = (co_await peer.read_some(buffer)).value_or(0);
        CHECK(std::string_view(buffer.data(), n).starts_with("HTTP/1.1 100 Continue\r\n\r\n"));
        const std::string rest = (chunked ? "5\r\nhello\r\n0\r\n\r\n" : "hello") + next;
        static_cast<void>(co_await peer.write_all(rest));
        const conversation reply = co_await world::read_to_end(peer);
        const std::string all = std::string(buffer.data() + 25, n - 25) + reply.bytes;  // behind the interim answer
        const std::vector<answer> answers = read_answers(all);
        REQUIRE(answers.size() == 2);
        CHECK(answers[0].body == "hello");
        CHECK(answers[1].body == "next");
      }(w, post(target, std::string(framing) + "Expect: 100-continue\r\n\r\n"), is_chunked));
    }
  }
}

TEST_CASE("steps behind a handler have the stream of a body that is refused or malformed") {
  world w(routes());
  for (const char* target : {"/after/plain", "/after/task"}) {
    CAPTURE(target);
    const std::vector<answer> refused = read_answers(w.ask(post(target, "Content-Length: 11\r\n\r\n01234567890")));
    REQUIRE_FALSE(refused.empty());
    CHECK(refused[0].status == 413);
    CHECK(refused[0].field("x-size") == "11");
    const std::vector<answer> malformed = read_answers(w.ask(post(target, "Transfer-Encoding: chunked\r\n\r\nx\r\n")));
    REQUIRE_FALSE(malformed.empty());
    CHECK(malformed[0].field("x-size") == "unknown");
  }
}
