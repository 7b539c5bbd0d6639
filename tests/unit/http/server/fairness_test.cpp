// A client whose bytes can always be moved does not hold up the others. The buffers of the network are larger than all
// bodies here, so no operation of the busy connection waits.
#include <hocket/core/yield.hpp>

#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

constexpr std::size_t total = std::size_t{32} << 20;
// Some turns of at most 256 KB, until the other client is answered.
constexpr std::size_t most = std::size_t{2} << 20;

struct progress {
  std::size_t moved = 0;       // by the busy handler
  std::size_t calls = 0;       // of its function
  std::size_t before = total;  // what had been moved when the other client's request was served
  int finished = 0;            // requests of the busy client behind the first one
  int finished_before = 0;
  event gate;  // lets the requests behind /gate be served
};

http::router routes(progress& seen) {
  http::router all;
  static const std::string text(total, 'x');
  all.get("/other", [&seen](http::request&) {
    seen.before = seen.moved;
    seen.finished_before = seen.finished;
    return http::text("other");
  });
  all.get("/text", [](http::request&) { return http::text(std::string_view(text)); });
  for (const std::size_t piece : {std::size_t{1} << 12, std::size_t{1} << 20})
    all.get("/pieces/" + std::to_string(piece), [&seen, piece](http::request&) {
      return http::stream_body("text/plain", [&seen, piece](http::body_writer& out) -> task<result<void>> {
        for (; seen.moved < total; seen.moved += piece) co_await or_return(out.write(text.substr(0, piece)));
        co_return {};
      });
    });
  all.get("/events", [&seen](http::request&) {
    return http::stream_body("text/plain", [&seen](http::body_writer& out) -> task<result<void>> {
      for (; seen.calls < 100'000; ++seen.calls) co_await or_return(out.write_all("event"));
      co_return {};
    });
  });
  for (const std::size_t piece : {std::size_t{1} << 12, std::size_t{1} << 20})
    all.post("/read/" + std::to_string(piece), {.body = http::streamed, .max_body = total},
             [&seen, piece](http::request& rq) -> task<result<http::response>> {
               std::vector<char> buffer(piece);
               while (const std::size_t n = co_await or_return(rq.stream().read_some(buffer))) seen.moved += n;
               co_return http::text("read");
             });
  all.post("/whole", {.max_body = total}, [&seen](http::request& rq) {
    seen.moved = rq.body().size();
    return http::text("whole");
  });
  all.post("/unread", {.body = http::streamed, .max_body = total}, [](http::request&) { return http::text("unread"); });
  all.get("/gate", [&seen](http::request&) -> task<http::response> {
    static_cast<void>(co_await seen.gate.wait());
    co_return http::empty();
  });
  all.get("/next", [&seen](http::request&) {
    ++seen.finished;
    return http::text("next");
  });
  return all;
}

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"; }
std::string with_length(const std::string& target) {
  return "POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(total) + "\r\n\r\n" +
         std::string(total, 'x');
}
std::string chunked(const std::string& target) {
  std::string sent = "POST " + target + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "10000\r\n" + std::string(1 << 16, 'x') + "\r\n";
  for (std::size_t i = 0; i < total >> 16; ++i) sent += chunk;
  return sent + "0\r\n\r\n";
}

http::serve_options options() {
  http::serve_options all;
  all.limits.max_drain = 2 * total;
  return all;
}

// The other client sends its request when the busy answer has begun.
task<> take_beside(world& in, const std::string& request) {
  tcp::stream busy = co_await in.connect();
  tcp::stream other = co_await in.connect();
  static_cast<void>(co_await busy.write_all(request));
  std::vector<char> buffer(4096);
  static_cast<void>(co_await busy.read_some(std::span(buffer).first(1)));
  static_cast<void>(co_await other.write_all(get("/other")));
  static_cast<void>(co_await other.read_some(buffer));
}

// All bytes of the busy client have arrived before the first one is read. Then the other client sends its request after
// some turns.
task<> send_beside(world& in, progress& seen, const std::string& request) {
  tcp::stream busy = co_await in.connect();
  tcp::stream other = co_await in.connect();
  const std::string all = get("/gate") + request;
  static_cast<void>(co_await busy.write_all(all));
  seen.gate.set();
  for (int turn = 0; turn < 3; ++turn) co_await yield();
  static_cast<void>(co_await other.write_all(get("/other")));
  std::vector<char> buffer(4096);
  static_cast<void>(co_await other.read_some(buffer));
  static_cast<void>(busy.shutdown_write());
  static_cast<void>(co_await world::read_to_end(busy));
}

constexpr memory_options wide{.buffer_size = 4 * total};

}  // namespace

TEST_CASE("a client that takes a long answer without a wait does not hold up others") {
  for (const char* target : {"/text", "/pieces/4096", "/pieces/1048576"}) {
    CAPTURE(target);
    progress seen;
    world w(routes(seen), options(), wide);
    w.run(take_beside(w, get(target)));
    CHECK(w.server->requests().bytes_out < most);  // the bytes of complete answers
    CHECK(seen.before < most);
  }
}

TEST_CASE("a function that writes often and little does not hold up others") {
  progress seen;
  world w(routes(seen), options(), wide);
  w.run(take_beside(w, get("/events")));
  CHECK(seen.calls < 1000);
}

TEST_CASE("a client that sends a long body without a wait does not hold up others") {
  for (const char* target : {"/read/4096", "/read/1048576", "/whole"})
    for (const bool is_chunked : {false, true}) {
      CAPTURE(target);
      CAPTURE(is_chunked);
      progress seen;
      world w(routes(seen), options(), wide);
      w.run(send_beside(w, seen, is_chunked ? chunked(target) : with_length(target)));
      CHECK(seen.moved == total);
      CHECK(seen.before < most);
    }
}

TEST_CASE("a body that is dropped does not hold up others") {
  for (const bool is_chunked : {false, true}) {
    CAPTURE(is_chunked);
    progress seen;
    world w(routes(seen), options(), wide);
    seen.moved = total;
    const std::string request = is_chunked ? chunked("/unread") : with_length("/unread");
    w.run(send_beside(w, seen, request + get("/next")));
    CHECK(seen.finished == 1);
    CHECK(seen.finished_before == 0);
  }
}

TEST_CASE("a cancel ends an answer that a client takes without a wait") {
  for (const char* target : {"/text", "/pieces/4096"}) {
    CAPTURE(target);
    progress seen;
    world w(routes(seen), options(), wide);
    const shutdown_report report = w.run([](world& in, const char* at) -> task<shutdown_report> {
      tcp::stream busy = co_await in.connect();
      static_cast<void>(co_await busy.write_all(get(at)));
      std::vector<char> buffer(2 * total);
      static_cast<void>(co_await busy.read_some(std::span(buffer).first(1)));
      shutdown_report ended = co_await in.server->graceful_shutdown({.drain = 0s, .cancel = 1s, .kill = 1s});
      const conversation rest = co_await world::read_to_end(busy);
      CHECK(rest.bytes.size() < most);
      co_return ended;
    }(w, target));
    CHECK(report.cancelled == 1);
    CHECK(report.remaining == 0);
  }
}
