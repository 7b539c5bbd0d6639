// What an idle connection of the server takes, and which one ends when the server needs a place. All times are virtual.
#include "unit/http/server/world.hpp"

#include <hocket/base/memory_source.hpp>

#include <atomic>
#include <cstdlib>

using namespace hocket_test;

namespace {

// All memory in which hocket keeps objects: frames, connections, buffers. Descriptors and the network are not in it.
std::atomic<std::size_t> live_bytes{0};

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  live_bytes += bytes;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void release(void* memory, std::size_t bytes, std::size_t) noexcept {
  live_bytes -= bytes;
  std::free(memory);
}
[[maybe_unused]] const bool is_set = (set_memory_source({&allocate, &release}), true);

task<result<http::response>> wait_and_answer(http::request&) {
  static_cast<void>(co_await sleep_for(1ms));
  co_return http::text("waited");
}

http::router routes() {
  http::router all;
  all.get("/plain", [](http::request&) { return http::text("plain"); });
  all.get("/task", wait_and_answer);
  all.post("/echo", [](http::request& rq) { return http::text(rq.body()); });
  return all;
}

// Sends the request in pieces, and reads its answer.
task<bool> ask(tcp::stream& peer, std::string_view request, std::size_t piece = std::string_view::npos) {
  for (std::string_view rest = request; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    const result<std::size_t> sent = co_await peer.write_all(rest.substr(0, piece));
    if (!sent) co_return false;
    static_cast<void>(co_await sleep_for(1us));
  }
  std::array<char, 512> buffer;
  const result<std::size_t> n = co_await peer.read_some(buffer);
  co_return n&& std::string_view(buffer.data(), *n).starts_with("HTTP/1.1 200");
}

task<bool> is_at_end(tcp::stream& peer) {
  std::array<char, 1> buffer;
  const result<std::size_t> n = co_await within(0s, peer.read_some(buffer));
  co_return n && *n == 0;
}

// A tenth under ThreadSanitizer, which needs minutes for them.
constexpr std::size_t connections = detail::sanitizer == detail::sanitizer_kind::tsan ? 10'000 : 100'000;
constexpr std::size_t limit = 8;

const std::string plain = "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string waits = "GET /task HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string twice = plain + plain;
const std::string body = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const std::array<std::string_view, 4> requests = {plain, waits, body, twice};

}  // namespace

TEST_CASE("an idle connection takes at most 170 bytes, whatever it has served") {
  http::serve_options options;
  options.max_connections = 2 * connections;
  options.limits.first_byte = options.limits.idle = 1h;
  world w(routes(), options);
  w.run([](world& in) -> task<> {
    std::vector<tcp::stream> peers;
    peers.reserve(connections);
    const std::size_t before = live_bytes;
    for (std::size_t i = 0; i < connections; ++i) {
      peers.push_back(co_await in.connect());
      if (i % 5 == 4) continue;  // no request
      const std::size_t piece = i % 2 == 0 ? 20 : std::string_view::npos;
      const bool is_answered = co_await ask(peers.back(), requests[i % 5], piece);
      if (!is_answered) FAIL_CHECK("no answer");
    }
    static_cast<void>(co_await sleep_for(1ms));
    CHECK(in.server->connections() == connections);
    constexpr std::size_t allowed = hocket::detail::portable_build ? 250 : 170;  // there a job has a coroutine
    CHECK((live_bytes - before) / connections <= allowed);
  }(w));
}

TEST_CASE("at the limit the oldest idle connection ends, and the new peer is served") {
  http::serve_options options;
  options.max_connections = limit;
  world w(routes(), options);
  w.run([](world& in) -> task<> {
    std::vector<tcp::stream> peers;
    for (std::size_t i = 0; i < limit - 1; ++i) {
      peers.push_back(co_await in.connect());
      CHECK(co_await ask(peers.back(), plain));
      static_cast<void>(co_await sleep_for(2s));
    }
    // The first one is not the oldest any more.
    CHECK(co_await ask(peers[0], waits));
    static_cast<void>(co_await sleep_for(2s));
    for (std::size_t i = 1; i < limit - 1; ++i) {
      CAPTURE(i);
      CHECK_FALSE(co_await is_at_end(peers[i]));
      peers.push_back(co_await in.connect());
      CHECK(co_await ask(peers.back(), plain));
      static_cast<void>(co_await sleep_for(2s));
      CHECK(co_await is_at_end(peers[i]));
      CHECK(co_await ask(peers[0], plain));
    }
    CHECK(in.server->connections() <= limit);
  }(w));
}

TEST_CASE("a connection with a request is not evicted, and a peer is served as soon as one is idle") {
  http::serve_options options;
  options.max_connections = 1;
  http::router all;
  all.get("/slow", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(5s));
    co_return http::text("slow");
  });
  all.get("/plain", [](http::request&) { return http::text("plain"); });
  world w(std::move(all), options);
  w.run([](world& in) -> task<> {
    tcp::stream first = co_await in.connect();
    static_cast<void>(co_await first.write_all("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"));
    static_cast<void>(co_await sleep_for(1s));
    const time_point begin = in.clock.now();
    tcp::stream second = co_await in.connect();
    CHECK(co_await ask(second, plain));
    const duration waited = in.clock.now() - begin;
    CHECK(waited >= 4s);
    CHECK(waited <= 6s);
    std::array<char, 512> buffer;
    const result<std::size_t> n = co_await first.read_some(buffer);
    CHECK(n.value_or(0) != 0);
    CHECK(co_await is_at_end(first));
  }(w));
}
