// Answers that fail behind their head, in every way in which a body can end: the peer sees that the body is incomplete,
// the access log has the answer once, and the connection is counted as what ended it.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

constexpr std::size_t large = std::size_t{8} << 20;  // more than the network buffers

struct line {
  std::string target;
  std::uint64_t in, out;
  bool is_complete;
};
std::vector<line> lines;

http::serve_options logged() {
  lines.clear();
  http::serve_options options;
  options.access_log = [](const http::access_record& record) noexcept {
    lines.push_back({std::string(record.target), record.bytes_in, record.bytes_out, record.is_complete});
  };
  return options;
}

// If they are stopped, they end by an error, by an exception, or only by a kill.
task<result<void>> returns(http::body_writer& out, event& never) {
  co_await or_return(out.write_all("begin"));
  co_await or_return(never.wait());
  co_return {};
}
task<> throws(http::body_writer& out, event& never) {
  co_await or_throw(out.write_all("begin"));
  co_await or_throw(never.wait());
}
task<> is_killed(http::body_writer& out, event& never) {
  co_await or_throw(out.write_all("begin"));
  auto waiting = never.wait().ignoring(stop_level::cancel);
  static_cast<void>(co_await std::move(waiting));
}
// Fails by itself, when the server drains.
task<> throws_number(http::body_writer& out) {
  co_await or_throw(out.write_all("begin"));
  static_cast<void>(co_await out.drain_requested());
  throw 7;
}

// `read` is set when a handler has read the body.
http::router routes(event& never, event& read) {
  static const std::string text(large, 'x');
  http::router all;
  all.get("/returns", [&never](http::request&) { return http::stream_body("text/plain", returns, std::ref(never)); });
  all.get("/throws", [&never](http::request&) { return http::stream_body("text/plain", throws, std::ref(never)); });
  all.get("/killed", [&never](http::request&) { return http::stream_body("text/plain", is_killed, std::ref(never)); });
  all.get("/number", [](http::request&) { return http::stream_body("text/plain", throws_number); });
  all.get("/text", [](http::request&) { return http::text(std::string_view(text)); });
  // Reads a body, and waits before the answer.
  const http::route_options streamed{.body = http::streamed};
  all.post("/reads/returns", streamed, [&never, &read](http::request& rq) -> task<result<http::response>> {
    std::array<char, 8> buffer;
    co_await or_return(rq.stream().read_some(buffer));
    read.set();
    co_await or_return(never.wait());
    co_return http::text("late");
  });
  all.post("/reads/throws", streamed, [&never, &read](http::request& rq) -> task<http::response> {
    std::array<char, 8> buffer;
    co_await or_throw(rq.stream().read_some(buffer));
    read.set();
    co_await or_throw(never.wait());
    co_return http::text("late");
  });
  return all;
}

std::string get(std::string_view target, std::string_view version = "1.1") {
  return "GET " + std::string(target) + " HTTP/" + std::string(version) + "\r\nHost: a\r\n\r\n";
}

// The client reads the first bytes of the answer, if there is one, and the rest behind the shutdown.
conversation read_over_shutdown(world& w, const std::string& sent, shutdown_report& report) {
  return w.run([](world& in, const std::string& request, shutdown_report& to) -> task<conversation> {
    tcp::stream peer = co_await in.connect();
    static_cast<void>(co_await peer.write_all(request));
    std::array<char, 4096> buffer;
    const std::size_t n = (co_await peer.read_some(buffer)).value_or(0);
    to = co_await in.server->graceful_shutdown({.drain = 10s, .cancel = 1s, .kill = 1s});
    conversation reply = co_await world::read_to_end(peer);
    reply.bytes.insert(0, buffer.data(), n);
    co_return reply;
  }(w, sent, report));
}

}  // namespace

TEST_CASE("an answer that a drain cuts is incomplete for its peer, and is in the access log") {
  struct row {
    const char* target;
    std::size_t cancelled, killed;
  };
  constexpr row rows[] = {{"/returns", 1, 0}, {"/throws", 1, 0}, {"/killed", 0, 1}, {"/number", 0, 0}, {"/text", 1, 0}};
  for (const row& each : rows) {
    for (const char* version : {"1.0", "1.1"}) {
      CAPTURE(each.target);
      CAPTURE(version);
      event never, read;
      world w(routes(never, read), logged());
      shutdown_report report;
      const conversation reply = read_over_shutdown(w, get(each.target, version), report);
      const std::vector<answer> answers = read_answers(reply.bytes);
      REQUIRE(answers.size() == 1);
      // Without a length, the end of the connection is the end of the body of HTTP/1.0: only a reset says that it is
      // incomplete.
      const bool has_end = answers[0].fields.contains("content-length") || version == std::string_view("1.1");
      if (has_end) CHECK_FALSE(answers[0].is_complete);
      else CHECK(reply.error == std::errc::connection_reset);
      CHECK(report.cancelled == each.cancelled);
      CHECK(report.killed == each.killed);
      CHECK(report.remaining == 0);
      REQUIRE(lines.size() == 1);
      CHECK(lines[0].target == each.target);
      CHECK(lines[0].out > 5);
      CHECK_FALSE(lines[0].is_complete);
      CHECK(w.server->requests().answers[2] == 1);
    }
  }
}

TEST_CASE(
    "a peer that is gone counts as completed, and the cut answer is in the access log, however its function ends") {
  for (const char* target : {"/returns", "/throws", "/text"}) {
    CAPTURE(target);
    event never, read;
    world w(routes(never, read), logged());
    w.run([](world& in, const std::string& sent) -> task<> {
      tcp::stream peer = co_await in.connect();
      static_cast<void>(co_await peer.write_all(sent));
      std::array<char, 512> buffer;
      CHECK((co_await peer.read_some(buffer)).value_or(0) != 0);
      static_cast<void>(peer.set_reset_on_close(true));
      peer.close();
      static_cast<void>(co_await in.server->graceful_shutdown({.drain = 24h}));
    }(w, get(target)));
    CHECK(w.clock.now().time_since_epoch() < 1min);
    CHECK(w.server->counts().completed == 1);
    CHECK(w.server->counts().cancelled + w.server->counts().failed == 0);
    REQUIRE(lines.size() == 1);
    CHECK_FALSE(lines[0].is_complete);
  }
}

TEST_CASE("the bytes of a body count if its handler is stopped before it answers, however it ends") {
  for (const char* target : {"/reads/returns", "/reads/throws"}) {
    for (const bool is_gone : {true, false}) {
      CAPTURE(target);
      CAPTURE(is_gone);
      event never, read;
      world w(routes(never, read), logged());
      w.run([](world& in, event& has_read, const std::string& sent, bool leaves) -> task<> {
        tcp::stream peer = co_await in.connect();
        static_cast<void>(co_await peer.write_all(sent));
        static_cast<void>(co_await has_read.wait());
        if (leaves) {
          static_cast<void>(peer.set_reset_on_close(true));
          peer.close();
        }
        const shutdown_options options{.drain = leaves ? duration(24h) : duration(1s)};
        const shutdown_report report = co_await in.server->graceful_shutdown(options);
        CHECK(report.drained == (leaves ? 1 : 0));
      }(w, read, "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", is_gone));
      CHECK(w.server->requests().bytes_in == 5);
      CHECK(w.server->counts().completed == (is_gone ? 1 : 0));
      CHECK(w.server->counts().cancelled == (is_gone ? 0 : 1));
      CHECK(lines.empty());  // without a head there is no answer
    }
  }
}
