// Handlers that throw, fail, never answer, write after the end, outlive their peer, or are killed.
#include "unit/http/server/world.hpp"

#include <stdexcept>

using namespace hocket_test;

namespace {

const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
std::string get(std::string_view target, std::string_view more = {}) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) + "\r\n";
}

// What a handler has seen.
struct record {
  int begun = 0, ended = 0, cancelled = 0;
  std::error_code error{};
};

// Waits for an hour, or for its cancellation.
task<result<http::response>> wait_long(http::request&, record& seen) {
  ++seen.begun;
  const result<void> slept = co_await sleep_for(1h);
  ++seen.ended;
  if (!slept) ++seen.cancelled;
  co_return http::text("late");
}

http::router routes(record& seen) {
  http::router all;
  all.get("/next", [](http::request&) { return http::text("next"); });
  all.get("/wait", wait_long, std::ref(seen));
  return all;
}

// Connects, sends, waits, and ends the connection as `end` says.
template <class End>
task<> leave_after(world& in, std::string_view sent, duration time, End end) {
  tcp::stream peer = co_await in.connect();
  static_cast<void>(co_await peer.write_all(sent));
  static_cast<void>(co_await sleep_for(time));
  end(in, peer);
}

}  // namespace

TEST_CASE("an exception or error of a handler is its answer, and the connection goes on") {
  http::router all;
  all.get("/next", [](http::request&) { return http::text("next"); });
  all.get("/throw", [](http::request&) -> http::response { throw std::runtime_error("secret"); });
  all.get("/code", [](http::request&) -> http::response { throw std::system_error(http::errc::conflict); });
  all.get("/int", [](http::request&) -> http::response { throw 1; });
  all.get("/bad_alloc", [](http::request&) -> http::response { throw std::bad_alloc(); });
  all.get("/error", [](http::request&) -> result<http::response> { return failure(http::errc::forbidden); });
  all.get("/task/throw", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1ms));
    throw std::runtime_error("secret");
  });
  all.get("/task/error", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1ms));
    co_return failure(http::errc::not_found);
  });
  all.get("/task/timed_out", [](http::request&) -> task<result<http::response>> {
    co_await or_return(within(1ms, sleep_for(1h)));
    co_return http::text("late");
  });
  all.get("/field", [](http::request&) { return http::text("x").set("A", "b\r\nC: d"); });
  all.get("/redirect", [](http::request&) { return http::redirect("/a\r\nSet-Cookie: b"); });
  struct row {
    const char* target;
    int status;
  };
  const row rows[] = {{"/throw", 500}, {"/code", 409},       {"/int", 500},        {"/bad_alloc", 500},
                      {"/error", 403}, {"/task/throw", 500}, {"/task/error", 404}, {"/task/timed_out", 504},
                      {"/field", 500}, {"/redirect", 500}};
  world w(std::move(all));
  for (const row& each : rows) {
    CAPTURE(each.target);
    const std::string reply = w.ask(get(each.target) + next);
    CHECK(statuses_of(reply) == std::vector<int>{each.status, 200});
    CHECK(reply.find("secret") == std::string::npos);
    CHECK(reply.find("Set-Cookie") == std::string::npos);
  }
  CHECK(w.server->counts().failed == 0);
}

TEST_CASE("a handler whose peer has reset the connection is cancelled, and its answer is dropped") {
  record seen;
  world w(routes(seen));
  auto reset = [](world& in, tcp::stream& peer) {
    static_cast<void>(peer.set_reset_on_close(true));
    static_cast<void>(in);
    peer.close();
  };
  w.run(leave_after(w, get("/wait"), 1s, reset));
  w.run([](world& in) -> task<> {
    while (in.server->connections() != 0) static_cast<void>(co_await sleep_for(1ms));
  }(w));
  CHECK(seen.begun == 1);
  CHECK(seen.cancelled == 1);
  CHECK(w.clock.now().time_since_epoch() < 1min);
}

TEST_CASE("a handler whose peer has shut down writing goes on, or is cancelled by option") {
  for (const bool is_cancelled : {false, true}) {
    record seen;
    http::serve_options options;
    options.cancel_when_half_closed = is_cancelled;
    world w(routes(seen), options);
    const conversation reply = w.talk(get("/wait", "Connection: close\r\n"), {.half_closes = true});
    CHECK(seen.cancelled == (is_cancelled ? 1 : 0));
    CHECK(statuses_of(reply.bytes).size() == (is_cancelled ? 0 : 1));
    CHECK(reply.time == (is_cancelled ? 0s : 1h));
  }
}

TEST_CASE("a half-closed peer that resets the connection later is noticed") {
  record seen;
  world w(routes(seen));
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string request = get("/wait");
    static_cast<void>(co_await peer.write_all(request));
    static_cast<void>(peer.shutdown_write());
    static_cast<void>(co_await sleep_for(10s));
    static_cast<void>(peer.set_reset_on_close(true));
    peer.close();
    const time_point begin = in.clock.now();
    while (in.server->connections() != 0) static_cast<void>(co_await sleep_for(1ms));
    CHECK(in.clock.now() - begin <= 2s);
  }(w));
  CHECK(seen.cancelled == 1);
  CHECK(w.server->counts().cancelled == 0);
  CHECK(w.server->counts().completed == 1);
}

TEST_CASE("a function that writes a body is cancelled when its peer is gone") {
  record seen;
  http::router all;
  all.get("/stream", [&seen](http::request&) {
    return http::stream_body("text/plain", [&seen](http::body_writer& out) -> task<result<void>> {
      co_await or_return(out.write_all("begin"));
      ++seen.begun;
      const result<void> slept = co_await sleep_for(1h);
      if (!slept) ++seen.cancelled;
      co_return {};
    });
  });
  world w(std::move(all));
  auto reset = [](world&, tcp::stream& peer) {
    static_cast<void>(peer.set_reset_on_close(true));
    peer.close();
  };
  w.run(leave_after(w, get("/stream"), 1s, reset));
  w.run([](world& in) -> task<> {
    while (in.server->connections() != 0) static_cast<void>(co_await sleep_for(1ms));
  }(w));
  CHECK(seen.begun == 1);
  CHECK(seen.cancelled == 1);
}

TEST_CASE("a function's body is chunked, of a declared size, or ended by the connection") {
  http::router all;
  auto write = [](http::body_writer& out) -> task<result<void>> {
    co_await or_return(out.write_all("abc"));
    co_await or_return(out.write("de"));
    co_await or_return(out.write("fgh"));
    co_await or_return(out.write_all(""));
    co_await or_return(out.flush());
    co_await or_return(out.write("ijk"));
    co_return {};
  };
  all.get("/chunks", [write](http::request&) { return http::stream_body("text/plain", write); });
  all.get("/sized", [write](http::request&) { return http::stream_body("text/plain", 11, write); });
  all.get("/less", [write](http::request&) { return http::stream_body("text/plain", 12, write); });
  all.get("/more", [write](http::request&) { return http::stream_body("text/plain", 10, write); });
  all.get("/next", [](http::request&) { return http::text("next"); });
  world w(std::move(all));
  std::vector<answer> answers = read_answers(w.ask(get("/chunks") + next));
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].body == "abcdefghijk");
  CHECK(answers[0].field("transfer-encoding") == "chunked");
  answers = read_answers(w.ask(get("/sized") + next));
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].body == "abcdefghijk");
  CHECK(answers[0].field("content-length") == "11");
  answers = read_answers(w.ask("GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + next));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].body == "abcdefghijk");
  CHECK(answers[0].field("transfer-encoding") == "");
  CHECK(answers[0].field("connection") == "close");
  for (const char* target : {"/less", "/more"}) {
    CAPTURE(target);
    answers = read_answers(w.ask(get(target) + next));
    REQUIRE(answers.size() == 1);
    CHECK_FALSE(answers[0].is_complete);
  }
  answer_reader reader("");
  const std::string reply = w.ask("HEAD /chunks HTTP/1.1\r\nHost: a\r\n\r\n" + next);
  reader = answer_reader(reply);
  CHECK(reader.next(true).value().status == 200);
  CHECK(reader.next().value().body == "next");
}

TEST_CASE("a function that fails or throws closes the connection without the end of its body") {
  http::router all;
  all.get("/error", [](http::request&) {
    return http::stream_body("text/plain", [](http::body_writer& out) -> task<result<void>> {
      co_await or_return(out.write_all("abc"));
      co_return failure(std::errc::io_error);
    });
  });
  all.get("/throw", [](http::request&) {
    return http::stream_body("text/plain", [](http::body_writer& out) -> task<result<void>> {
      co_await or_return(out.write_all("abc"));
      throw std::runtime_error("secret");
    });
  });
  world w(std::move(all));
  for (const char* target : {"/error", "/throw"}) {
    for (const char* version : {"1.1", "1.0"}) {
      CAPTURE(target);
      CAPTURE(version);
      const conversation reply =
          w.talk("GET " + std::string(target) + " HTTP/" + version + "\r\nHost: a\r\n\r\n" + next);
      CHECK(reply.bytes.find("0\r\n\r\n", reply.bytes.find("\r\n\r\n")) == std::string::npos);
      CHECK(statuses_of(reply.bytes).size() <= 1);
      // A peer of HTTP/1.0 must not take the end of the stream for the end of the body.
      if (version == std::string_view("1.0")) CHECK(reply.error == std::errc::connection_reset);
    }
  }
}

TEST_CASE("a handler may read the body while a function writes the answer") {
  http::router all;
  all.post("/echo", {.body = http::streamed}, [](http::request& rq) -> task<result<http::response>> {
    auto echo = [](http::body_writer& out, http::request_body& in) -> task<result<void>> {
      std::array<char, 7> buffer;
      for (;;) {
        const std::size_t n = co_await or_return(in.read_some(buffer));
        if (n == 0) co_return {};
        const std::string_view piece(buffer.data(), n);
        co_await or_return(out.write(piece));
      }
    };
    co_return http::stream_body("text/plain", echo, std::ref(rq.stream()));
  });
  all.get("/next", [](http::request&) { return http::text("next"); });
  world w(std::move(all));
  const std::string sent =
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n13\r\nabcdefghijklmnopqrs\r\n0\r\n\r\n" +
      next;
  for (std::size_t piece = 1; piece < sent.size(); ++piece) {
    CAPTURE(piece);
    const std::vector<answer> answers = read_answers(w.ask(sent, {.piece = piece, .pause = 1ms}));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].body == "abcdefghijklmnopqrs");
    CHECK(answers[1].body == "next");
  }
}

TEST_CASE("a write after the end of a function's body fails") {
  http::router all;
  http::body_writer* writer = nullptr;
  std::error_code late;
  all.get("/keep", [&](http::request&) {
    return http::stream_body("text/plain", [&](http::body_writer& out) -> task<result<void>> {
      writer = &out;
      co_await or_return(out.write_all("abc"));
      auto closing = out.end();
      co_await or_return(std::move(closing));
      const result<std::size_t> written = co_await out.write_all("late");
      if (!written) late = written.error();
      co_return {};
    });
  });
  world w(std::move(all));
  static_cast<void>(w.ask(get("/keep")));
  CHECK(late == std::errc::operation_not_permitted);
}

TEST_CASE("the access log gets each answer, with its sizes and times") {
  struct line {
    std::string method, target;
    int status;
    std::uint64_t in, out;
    bool is_complete;
  };
  static std::vector<line> lines;
  lines.clear();
  http::serve_options options;
  options.access_log = [](const http::access_record& record) noexcept {
    lines.push_back({std::string(record.method), std::string(record.target), static_cast<int>(record.status),
                     record.bytes_in, record.bytes_out, record.is_complete});
  };
  http::router all;
  all.get("/next", [](http::request&) { return http::text("next"); });
  all.post("/echo", [](http::request& rq) { return http::text(rq.body()); });
  all.get("/large", [](http::request&) { return http::text(std::string(100'000, 'x')); });
  world w(std::move(all), options);
  const std::string reply = w.ask(next + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" +
                                  get("/none") + get("/large") + "bad");
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].target == "/next");
  CHECK(lines[1].in == 3);
  CHECK(lines[2].status == 404);
  CHECK(lines[3].out > 100'000);
  CHECK(lines[4].method.empty());
  CHECK(lines[4].status == 408);
  std::uint64_t sum = 0;
  for (const line& each : lines) sum += each.out;
  CHECK(sum == reply.size());
}
