// Connections without coroutines: a server that makes jobs. The time is that of a manual clock.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/seam/job_connection.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using detail::job_connection;
using detail::server_core;

// An idle connection of the HTTP server may take 170 bytes.
static_assert(sizeof(job_connection) <= 160 || sizeof(void*) != 8);

namespace {

constexpr const char* address = "10.0.0.1:80";

// Answers each byte by itself. 'x' ends the connection, 'h' and 'r' begin a phase, 'p' waits for the end of the peer.
class echo final : public job_connection {
 public:
  using job_connection::job_connection;

 private:
  void proceed(std::uint32_t) noexcept override {
    if (is_late()) return end(std::make_error_code(std::errc::timed_out));
    do {
      if (!write_unsent()) continue;
      if (!read_all()) return;
      if (waits_for_peer_ && unsent_.empty()) return wait_for_peer();
    } while (!is_ending() && !(unsent_.empty() ? wait_idle() : wait_writable()));
  }
  static time_point steady_time() noexcept { return detail::time_here(); }

  void wait_for_peer() noexcept {
    if (watch_peer()) end();
  }

  // False: it would block.
  bool write_unsent() noexcept {
    while (!unsent_.empty()) {
      auto write = peer.write_some(const_buffer(unsent_.data(), unsent_.size())).unwrap();
      if (!write.try_now()) return false;
      const result<std::size_t> n = write.take();
      if (!n) return end(n.error()), true;
      add_moved(*n);
      unsent_.erase(0, *n);
    }
    return true;
  }
  // False: the connection ends.
  bool read_all() noexcept {
    while (unsent_.empty() && !waits_for_peer_) {
      auto read = peer.read_idle().unwrap();
      if (!read.try_now()) return true;
      const result<borrowed_bytes> bytes = read.take();
      if (!bytes) return end(bytes.error()), false;
      if (bytes->empty()) return end(), false;
      add_moved(bytes->size());
      unsent_.append(bytes->text());
      if (bytes->text().find('h') != std::string::npos) begin_phase(10s);
      if (bytes->text().find('r') != std::string::npos) begin_phase(1h, true);
      if (bytes->text().find('e') != std::string::npos) end_phase();
      waits_for_peer_ = bytes->text().find('p') != std::string::npos;
      static_cast<void>(write_unsent());
      if (bytes->text().find('x') != std::string::npos) return end(), false;
    }
    return !is_ending();
  }

  std::string unsent_;
  bool waits_for_peer_ = false;
};

class job_server final : public server_core {
 public:
  using server_core::server_core;

 private:
  void begin(connection accepted) override { job_connection::start(*new echo(std::move(accepted), next_home())); }
};

class world {
 public:
  explicit world(const tcp::serve_options& options = {}, const memory_options& network = {})
      : net_([&] {
          memory_options all = network;
          all.clock = &clock;
          return all;
        }()),
        server(open(options)) {}
  ~world() {
    peers.clear();
    CHECK(end({.drain = 24h}).remaining == 0);
    CHECK(server.connections() == 0);
  }

  shutdown_report end(shutdown_options options) {
    auto ended = spawn(lp, &tcp::server::graceful_shutdown, &server, options);
    lp.run_until(ended);
    return sync_wait(ended);
  }
  void connect() {
    auto caller = spawn(lp, [&]() -> task<> { peers.push_back((co_await net_.connect(address)).value()); });
    lp.run_until(caller);
    lp.run_for(1ms);
  }
  void write(std::size_t which, std::string text) {
    auto body = [&]() -> task<bool> { co_return (co_await peers[which].write_all(text)).has_value(); };
    auto written = spawn(lp, body);
    lp.run_until(written);
    CHECK(sync_wait(written));
  }
  std::string read(std::size_t which, std::size_t size) {
    std::string text(size, ' ');
    auto body = [&]() -> task<bool> {
      co_return (co_await within(1000s, peers[which].read_exactly(mutable_buffer(text.data(), size)))).has_value();
    };
    auto read = spawn(lp, body);
    lp.run_until(read);
    CHECK(sync_wait(read));
    return text;
  }
  void ask(std::size_t which) {
    write(which, "q");
    CHECK(read(which, 1) == "q");
  }
  bool has_ended(std::size_t which) {
    auto body = [&]() -> task<bool> {
      std::array<char, 4> answer{};
      const result<std::size_t> n = co_await within(0s, peers[which].read_some(answer));
      co_return n && *n == 0;
    };
    auto read = spawn(lp, body);
    lp.run_until(read);
    return sync_wait(read);
  }

  manual_clock clock{time_point(1h)};
  loop lp{{.clock = &clock}};

 private:
  tcp::server open(const tcp::serve_options& options) {
    auto core = std::make_unique<job_server>(lp, options);
    server_core& opened = *core;
    tcp::server owner(std::move(core));
    REQUIRE_FALSE(opened.open(net_.listen(address).value()));
    return owner;
  }

  memory_network net_;

 public:
  tcp::server server;
  std::vector<tcp::stream> peers;
};

}  // namespace

TEST_CASE("a connection without a coroutine answers what it reads, until its peer ends the stream") {
  world w;
  for (int i = 0; i < 10; ++i) w.connect();
  CHECK(w.server.connections() == 10);
  CHECK(w.server.counts().accepted == 10);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 10; ++i) w.ask(i);
  }
  w.peers.clear();
  w.lp.run_for(1s);
  CHECK(w.server.connections() == 0);
  CHECK(w.server.counts().completed == 10);
}

TEST_CASE("a connection without a coroutine survives edges that are late or tell of nothing, and short reads") {
  world w(
      {},
      {.seed = 7, .max_latency = 5ms, .short_reads = 128, .short_writes = 128, .idle_edges = 128, .late_edges = 128});
  for (int i = 0; i < 4; ++i) w.connect();
  const std::string text(300, 't');
  for (std::size_t i = 0; i < 4; ++i) {
    w.write(i, text);
    CHECK(w.read(i, text.size()) == text);
  }
}

TEST_CASE("a connection without a coroutine waits until its peer has room") {
  world w({}, {.buffer_size = 16});
  w.connect();
  const std::string text(10, 't');
  for (int i = 0; i < 3; ++i) w.write(0, text);
  w.lp.run_for(1s);
  CHECK(w.read(0, 30) == text + text + text);
}

TEST_CASE("a connection that ends itself lingers, so that its peer gets the answer") {
  world w;
  w.connect();
  w.write(0, "ax");
  CHECK(w.read(0, 2) == "ax");
  CHECK(w.has_ended(0));
  CHECK(w.server.counts().completed == 1);
  w.peers.clear();
  w.lp.run_for(1s);
  CHECK(w.server.connections() == 0);
}

TEST_CASE("an idle connection without a coroutine ends after its limit, and is evicted by age") {
  world w({.max_connections = 5, .max_idle = 30s});
  for (std::size_t i = 0; i < 4; ++i) {
    w.connect();
    w.lp.run_for(2s);
  }
  w.ask(0);
  w.lp.run_for(2s);
  w.connect();
  w.lp.run_for(1ms);
  CHECK(w.server.connections() == 4);
  CHECK(w.has_ended(1));
  CHECK_FALSE(w.has_ended(0));
  w.lp.run_for(19s);
  CHECK(w.server.connections() == 4);
  w.lp.run_for(13s);
  CHECK(w.server.connections() == 0);
  CHECK(w.server.counts().completed == 5);
}

TEST_CASE("a shutdown ends idle connections without coroutines at once, and cancels busy ones") {
  for (const bool is_idle : {true, false}) {
    CAPTURE(is_idle);
    world w;
    w.connect();
    if (!is_idle) w.write(0, "p");
    w.lp.run_for(1ms);
    const time_point begin = w.clock.now();
    const shutdown_report report = w.end({.drain = 5s});
    CHECK(report.drained == (is_idle ? 1 : 0));
    CHECK(report.cancelled == (is_idle ? 0 : 1));
    CHECK(report.remaining == 0);
    CHECK(w.clock.now() - begin == (is_idle ? 0s : 5s));
    CHECK(w.server.counts().cancelled == (is_idle ? 0 : 1));
  }
}

TEST_CASE("the destructor of a server ends connections without coroutines") {
  world w;
  w.connect();
  w.connect();
  w.write(1, "p");
  tcp::server(std::move(w.server));
  w.server = tcp::server(std::make_unique<job_server>(w.lp, tcp::serve_options{}));
  w.lp.run_for(1ms);
  CHECK(w.has_ended(0));
}

TEST_CASE("a connection hears the end of its peer while it reads nothing") {
  world w;
  w.connect();
  w.write(0, "p");
  w.lp.run_for(1s);
  CHECK(w.server.connections() == 1);
  w.peers.clear();
  w.lp.run_for(1s);
  CHECK(w.server.connections() == 0);
}

TEST_CASE("a phase ends a connection at its deadline, to within a second") {
  world w({.max_idle = duration::max()});
  w.connect();
  w.connect();
  w.write(0, "h");
  w.write(1, "h");
  w.lp.run_for(5s);
  w.write(1, "e");  // in time
  w.lp.run_for(4900ms);
  CHECK(w.server.connections() == 2);
  w.lp.run_for(1200ms);
  CHECK(w.server.counts().failed == 1);
  w.lp.run_for(100s);
  CHECK(w.server.counts().failed == 1);
  w.write(1, "h");
  w.lp.run_for(11200ms);
  CHECK(w.server.counts().failed == 2);
}

TEST_CASE("a phase with a rate ends a connection that moves less than 1 KB a second") {
  world w({.max_idle = duration::max()});
  w.connect();
  w.connect();
  w.write(0, "r");
  w.write(1, "r");
  const std::string enough(600, 'q');  // comes back, too
  for (int second = 0; second < 35; ++second) {
    w.write(1, enough);
    CHECK(w.read(1, second == 0 ? 601 : 600).size() >= 600);
    w.lp.run_for(1s);
    if (second == 8) CHECK(w.server.counts().failed == 0);
  }
  CHECK(w.server.counts().failed == 1);
  w.write(1, "e");
}
