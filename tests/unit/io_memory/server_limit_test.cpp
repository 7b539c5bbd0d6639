// The limit of a server, which changes while it runs; and the reply to peers over it. The time is that of a manual
// clock.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>

#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<> read_to_end(tcp::stream peer) {
  std::array<char, 16> buffer;
  while (auto n = co_await peer.read_some(buffer)) {
    if (*n == 0) break;
  }
}

class limited_server {
 public:
  explicit limited_server(const tcp::serve_options& options)
      : server(tcp::serve(lp_, net_.listen("10.0.0.1:80").value(), options, read_to_end).value()) {}
  ~limited_server() {
    peers.clear();
    auto ended = spawn(lp_, &tcp::server::graceful_shutdown, &server, shutdown_options{.report = -1});
    lp_.run_until(ended);
    CHECK(sync_wait(ended).remaining == 0);
    CHECK(server.connections() == 0);
  }

  void connect(int count) {
    for (int i = 0; i < count; ++i) {
      auto body = [this]() -> task<> { peers.push_back((co_await net_.connect("10.0.0.1:80")).value()); };
      lp_.run_until(spawn(lp_, body));
    }
    lp_.run_for(1ms);
  }
  void disconnect(int count) {
    peers.erase(peers.begin(), peers.begin() + count);
    lp_.run_for(1ms);
  }
  void change(std::size_t limit) {
    server.set_max_connections(limit);
    lp_.run_for(1ms);
  }
  std::string read_text(std::size_t index) {
    auto body = [&]() -> task<result<std::string>> { co_return co_await read_all(peers[index]); };
    auto read = spawn(lp_, body);
    lp_.run_until(read);
    return sync_wait(read).value();
  }

 private:
  manual_clock clock_;
  loop lp_{{.clock = &clock_}};
  memory_network net_{{.clock = &clock_}};

 public:
  tcp::server server;
  std::vector<tcp::stream> peers;
};

}  // namespace

TEST_CASE("raising the limit of a running server lets waiting peers in") {
  limited_server world({.max_connections = 1});
  world.connect(4);
  CHECK(world.server.connections() == 1);
  world.change(3);
  CHECK(world.server.connections() == 3);
  world.change(tcp::serve_options::unlimited);
  CHECK(world.server.connections() == 4);
}

TEST_CASE("lowering the limit of a running server ends no connection, and lets none in until enough have ended") {
  limited_server world({.max_connections = 4});
  world.connect(4);
  world.change(2);
  CHECK(world.server.connections() == 4);
  world.connect(2);
  CHECK(world.server.counts().accepted == 4);
  world.disconnect(2);
  CHECK(world.server.connections() == 2);
  CHECK(world.server.counts().accepted == 4);
  world.disconnect(1);
  CHECK(world.server.connections() == 2);
  CHECK(world.server.counts().accepted == 5);
}

TEST_CASE("a limit that is lowered and raised again is exact") {
  limited_server world({.max_connections = 3});
  world.connect(3);
  world.change(1);
  world.change(4);
  world.connect(3);
  CHECK(world.server.connections() == 4);
  world.change(0);
  world.disconnect(4);
  CHECK(world.server.connections() == 0);
  world.change(1);
  CHECK(world.server.connections() == 1);
}

TEST_CASE("a server without a limit of its own gets a limit") {
  for (const std::size_t limit : {std::size_t{0}, tcp::serve_options::unlimited}) {
    limited_server world({.max_connections = limit});
    world.connect(3);
    CHECK(world.server.connections() == 3);
    world.change(2);
    world.disconnect(1);
    world.connect(2);
    CHECK(world.server.connections() == 2);
    world.disconnect(1);
    CHECK(world.server.connections() == 2);
    CHECK(world.server.counts().accepted == 4);
  }
}

TEST_CASE("peers over the limit get the reply and the end of the stream, and are counted as refused") {
  limited_server world({.max_connections = 2, .overload_reply = "503 try later\n"});
  world.connect(4);
  CHECK(world.server.counts().accepted == 2);
  CHECK(world.server.counts().refused == 2);
  CHECK(world.read_text(2) == "503 try later\n");
  CHECK(world.read_text(3) == "503 try later\n");
  world.peers.resize(2);
  world.disconnect(1);
  world.connect(1);
  CHECK(world.server.counts().accepted == 3);
  CHECK(world.server.counts().refused == 2);
  world.connect(1);
  CHECK(world.server.counts().refused == 3);
}
