// Connections without coroutines on a runtime: several workers, many clients, evictions, and ends at any moment.
#include <hocket/core/sync_wait.hpp>
#include <hocket/net/seam/job_connection.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/temporary_folder.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using detail::job_connection;
using detail::server_core;

namespace {

// Answers each byte. The answers are short, so the socket takes them.
class echo final : public job_connection {
 public:
  using job_connection::job_connection;

 private:
  void proceed(std::uint32_t) noexcept override {
    begin_phase(30s);
    do {
      for (;;) {
        auto read = peer.read_idle().unwrap();
        if (!read.try_now()) break;
        const result<borrowed_bytes> bytes = read.take();
        if (!bytes) return end(bytes.error());
        if (bytes->empty()) return end();
        auto write = peer.write_some(*bytes).unwrap();
        if (!write.try_now()) return end(std::make_error_code(std::errc::no_buffer_space));
        const result<std::size_t> written = write.take();
        if (!written) return end(written.error());
      }
      end_phase();
    } while (!wait_idle());
  }
};

class echo_server final : public server_core {
 public:
  using server_core::server_core;

 private:
  void begin(connection accepted) override { job_connection::start(*new echo(std::move(accepted), next_home())); }
};

tcp::server open(runtime& rt, const tcp::serve_options& options, const socket_address& address = "127.0.0.1:0") {
  auto core = std::make_unique<echo_server>(rt, options);
  server_core& opened = *core;
  tcp::server owner(std::move(core));
  REQUIRE_FALSE(opened.open(address));
  return owner;
}

// False: the server has ended the connection.
bool ask(tcp::stream& peer) {
  std::array<char, 1> answer{};
  if (!sync_wait(peer.write_all("q"))) return false;
  return sync_wait(peer.read_exactly(answer)).has_value();
}

}  // namespace

TEST_CASE("connections without coroutines serve several workers, with evictions meanwhile") {
  constexpr std::size_t threads = 4, rounds = 100;
  runtime rt({.workers = 2});
  auto server = open(rt, {.max_connections = 8});
  std::atomic<std::size_t> answers = 0;
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < threads; ++i) {
    clients.emplace_back([&, i] {
      std::vector<tcp::stream> peers;
      for (std::size_t round = 0; round < rounds; ++round) {
        auto peer = sync_wait(tcp::connect(server.local_address()));
        if (!peer) continue;
        for (std::size_t k = 0; k < 3 && ask(*peer); ++k) ++answers;
        peers.push_back(std::move(*peer));
        if (peers.size() > 3 + i) peers.erase(peers.begin());
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(answers >= threads * rounds);
  const shutdown_report report = sync_wait(server.graceful_shutdown({.drain = 24h}));
  CHECK(report.remaining == 0);
  CHECK(server.connections() == 0);
  const tcp::server_counts counts = server.counts();
  CHECK(counts.accepted == counts.completed + counts.failed + counts.cancelled);
}

TEST_CASE("a server with connections without coroutines may end at any moment") {
  for (int round = 0; round < 30; ++round) {
    runtime rt({.workers = 2});
    auto server = open(rt, {});
    std::vector<tcp::stream> peers;
    for (int i = 0; i < 5; ++i) peers.push_back(sync_wait(tcp::connect(server.local_address())).value());
    if (round % 3 == 0) CHECK(ask(peers[0]));
    std::thread client([&] {
      while (ask(peers[1])) continue;
    });
    if (round % 2 == 0) {
      const shutdown_report report = sync_wait(server.graceful_shutdown({.drain = 0s, .cancel = 24h}));
      CHECK(report.remaining == 0);
    }
    {
      const tcp::server ended = std::move(server);
    }
    client.join();
  }
}

// The runs of a connection are on another worker than its acceptor, because there is one listener.
TEST_CASE("a server of one listener may end while it accepts") {
  const hocket_test::temporary_folder folder;
  for (int round = 0; round < 100; ++round) {
    runtime rt({.workers = 3});
    auto server = open(rt, {}, "unix:" + (folder / ("socket" + std::to_string(round)).c_str()));
    const socket_address address = server.local_address();
    std::atomic<bool> is_over = false;
    std::thread client([&] {
      while (!is_over) static_cast<void>(sync_wait(tcp::connect(address)));
    });
    while (server.counts().accepted < static_cast<std::size_t>(round % 10)) std::this_thread::yield();
    is_over = round % 2 == 0;
    if (is_over) client.join();
    {
      const tcp::server ended = std::move(server);
    }
    is_over = true;
    if (client.joinable()) client.join();
  }
}
