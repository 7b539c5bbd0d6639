// Answers that fail behind their head, in every way in which a function of a body can end: the peer sees that the
// body is incomplete, the access log has the answer once, and the connection is counted as what ended it.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

struct line {
  std::string target;
  std::uint64_t size;
  bool is_complete;
};
std::vector<line> lines;

http::serve_options logged() {
  lines.clear();
  http::serve_options options;
  options.access_log = [](const http::access_record& record) noexcept {
    lines.push_back({std::string(record.target), record.bytes_out, record.is_complete});
  };
  return options;
}

// Ends by an error, by an exception, or only by a kill, if it is stopped.
task<result<void>> returns(http::body_writer& out) {
  co_await or_return(out.write_all("begin"));
  co_await or_return(sleep_for(1h));
  co_return {};
}
task<> throws(http::body_writer& out) {
  co_await or_throw(out.write_all("begin"));
  co_await or_throw(sleep_for(1h));
}
task<> is_killed(http::body_writer& out) {
  co_await or_throw(out.write_all("begin"));
  auto sleeping = sleep_for(1h).ignoring(stop_level::cancel);
  static_cast<void>(co_await std::move(sleeping));
}
task<> throws_number(http::body_writer& out) {
  co_await or_throw(out.write_all("begin"));
  static_cast<void>(co_await sleep_for(5s));
  throw 7;
}

http::router routes() {
  http::router all;
  all.get("/returns", [](http::request&) { return http::stream_body("text/plain", returns); });
  all.get("/throws", [](http::request&) { return http::stream_body("text/plain", throws); });
  all.get("/killed", [](http::request&) { return http::stream_body("text/plain", is_killed); });
  all.get("/number", [](http::request&) { return http::stream_body("text/plain", throws_number); });
  // Waits before its answer, so that its head is not sent.
  all.get("/waits", [](http::request&) -> task<http::response> {
    co_await or_throw(sleep_for(1h));
    co_return http::text("late");
  });
  return all;
}

std::string get(std::string_view target, std::string_view version = "1.1") {
  return "GET " + std::string(target) + " HTTP/" + std::string(version) + "\r\nHost: a\r\n\r\n";
}

}  // namespace

TEST_CASE("an answer that a drain cuts is incomplete for its peer, and is in the access log") {
  for (const char* target : {"/returns", "/throws", "/killed", "/number"}) {
    for (const char* version : {"1.0", "1.1"}) {
      CAPTURE(target);
      CAPTURE(version);
      world w(routes(), logged());
      shutdown_report report;
      w.run([](world& in, const std::string& sent, bool is_old, shutdown_report& to) -> task<> {
        tcp::stream peer = co_await in.connect();
        static_cast<void>(co_await peer.write_all(sent));
        auto client = spawn([&]() -> task<conversation> { co_return co_await world::read_to_end(peer); });
        static_cast<void>(co_await sleep_for(1s));
        to = co_await in.server->graceful_shutdown({.drain = 10s, .cancel = 1s, .kill = 1s});
        result<conversation> ended = co_await client.join();
        const conversation reply = std::move(ended).value();
        const std::vector<answer> answers = read_answers(reply.bytes);
        REQUIRE(answers.size() == 1);
        CHECK(answers[0].body == "begin");
        // The end of the connection is the end of the body of HTTP/1.0: only a reset says that it is incomplete.
        if (is_old) CHECK(reply.error == std::errc::connection_reset);
        else CHECK_FALSE(answers[0].is_complete);
      }(w, get(target, version), version == std::string_view("1.0"), report));
      CHECK(report.cancelled == (target == std::string_view("/returns") || target == std::string_view("/throws")));
      CHECK(report.killed == (target == std::string_view("/killed")));
      REQUIRE(lines.size() == 1);
      CHECK(lines[0].target == target);
      CHECK(lines[0].size > 5);
      CHECK_FALSE(lines[0].is_complete);
      CHECK(w.server->requests().answers[2] == 1);
    }
  }
}

TEST_CASE(
    "a peer that is gone counts as completed, and the cut answer is in the access log, however its function ends") {
  for (const char* target : {"/returns", "/throws", "/waits"}) {
    CAPTURE(target);
    world w(routes(), logged());
    w.run([](world& in, const std::string& sent) -> task<> {
      tcp::stream peer = co_await in.connect();
      static_cast<void>(co_await peer.write_all(sent));
      static_cast<void>(co_await sleep_for(1s));
      static_cast<void>(peer.set_reset_on_close(true));
      peer.close();
      while (in.server->connections() != 0) static_cast<void>(co_await sleep_for(1ms));
    }(w, get(target)));
    CHECK(w.clock.now().time_since_epoch() < 1min);
    CHECK(w.server->counts().completed == 1);
    CHECK(w.server->counts().cancelled + w.server->counts().failed == 0);
    // Without a head there is no answer.
    CHECK(lines.size() == (target == std::string_view("/waits") ? 0 : 1));
    if (!lines.empty()) CHECK_FALSE(lines[0].is_complete);
  }
}
