// Answers that are ready, before a body that waits or fails.
#include "unit/http/server/world.hpp"

#include <sys/mman.h>

using namespace hocket_test;

namespace {

http::response plain(http::request& rq) { return http::text(std::string(rq.path())); }
task<result<void>> fail(http::body_writer&) { co_return failure(std::errc::io_error); }
task<result<void>> fail_after_collecting(http::body_writer& out) {
  co_await or_return(out.write("abc"));
  co_return failure(std::errc::io_error);
}
task<result<void>> fail_by_exception(http::body_writer&) {
  throw std::runtime_error("secret");
  co_return {};
}
task<result<void>> wait_long(http::body_writer& out) {
  static_cast<void>(co_await sleep_for(1h));
  co_await or_return(out.write_all("late"));
  co_return {};
}

http::router routes() {
  http::router all;
  all.get("/plain/{x}", plain);
  all.get("/error", [](http::request&) { return http::stream_body("text/plain", fail); });
  all.get("/collected", [](http::request&) { return http::stream_body("text/plain", fail_after_collecting); });
  all.get("/throw", [](http::request&) { return http::stream_body("text/plain", fail_by_exception); });
  all.get("/sized", [](http::request&) { return http::stream_body("text/plain", 10, fail); });
  all.get("/wait", [](http::request&) { return http::stream_body("text/plain", wait_long); });
  // An empty file, of which 1,000 bytes are promised.
  all.get("/file", [](http::request&) {
    return http::file_range("text/plain", unique_fd(::memfd_create("empty", MFD_CLOEXEC)), 0, 1000);
  });
  return all;
}

std::string get(std::string_view target) { return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

}  // namespace

TEST_CASE("answers that are ready arrive, also if the body behind them fails before its first byte") {
  for (const char* target : {"/error", "/collected", "/throw", "/sized"}) {
    CAPTURE(target);
    world w(routes());
    const std::string reply = w.ask(get("/plain/1") + get("/plain/2") + get(target) + get("/plain/3"));
    answer_reader reader(reply);
    CHECK(reader.next().value_or(answer{}).body == "/plain/1");
    CHECK(reader.next().value_or(answer{}).body == "/plain/2");
    const std::optional<answer> failed = reader.next();
    if (failed) CHECK_FALSE(failed->is_complete);
    CHECK(reply.find("/plain/3") == std::string::npos);
    CHECK(reply.find("secret") == std::string::npos);
  }
}

TEST_CASE("the head of a function's body, and the answers before it, leave before the function waits") {
  world w(routes());
  w.run([](world& in) -> task<> {
    tcp::stream peer = co_await in.connect();
    const std::string sent = get("/plain/1") + get("/wait");
    static_cast<void>(co_await peer.write_all(sent));
    static_cast<void>(co_await sleep_for(1s));
    std::vector<char> buffer(4096);
    const result<std::size_t> n = co_await within(1s, peer.read_some(buffer));
    const std::vector<answer> answers = read_answers({buffer.data(), n.value_or(0)});
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].body == "/plain/1");
    CHECK(answers[1].field("transfer-encoding") == "chunked");
    CHECK_FALSE(answers[1].is_complete);
  }(w));
}

// On a socket: the file is read by a thread, which virtual time does not wait for.
TEST_CASE("answers that are ready arrive, also if a file behind them has become shorter") {
  loop lp;
  http::server server = http::serve(lp, "127.0.0.1:0", {}, routes()).value();
  const std::string sent = get("/plain/1") + get("/plain/2") + get("/file") + get("/plain/3");
  auto client = spawn(lp, [&]() -> task<std::string> {
    tcp::stream peer = (co_await tcp::connect(server.local_address())).value();
    static_cast<void>(co_await peer.write_all(sent));
    const conversation reply = co_await world::read_to_end(peer);
    co_return reply.bytes;
  });
  lp.run_until(client);
  const std::string reply = sync_wait(client);
  answer_reader reader(reply);
  CHECK(reader.next().value_or(answer{}).body == "/plain/1");
  CHECK(reader.next().value_or(answer{}).body == "/plain/2");
  const std::optional<answer> failed = reader.next();
  if (failed) CHECK_FALSE(failed->is_complete);
  CHECK(reply.find("/plain/3") == std::string::npos);
  auto ended = spawn(lp, [&]() -> task<> { static_cast<void>(co_await server.graceful_shutdown({})); });
  lp.run_until(ended);
}
