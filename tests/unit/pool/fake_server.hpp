// A server in memory for tests of connection_pool, with virtual time: it counts what the pool does to its connections.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <deque>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace hocket_test {

using namespace std::chrono_literals;

struct fake_server {
  // What happens to the next connects, in order: an error, or 0.
  std::deque<std::error_code> errors;
  hocket::duration latency{};     // of a connect
  hocket::event* gate = nullptr;  // each connect waits for it
  hocket::event* drain_gate = nullptr;
  std::error_code drain_error{};
  std::error_code ping_error{};
  bool gives_dead = false;
  std::set<int> dead;               // connections that the server has closed
  std::function<void()> at_accept;  // called once, before the first look at a new connection

  int connects = 0, connecting = 0, max_connecting = 0;
  int open = 0, looks = 0, drains = 0, draining = 0, max_draining = 0, pings = 0, accepted = 0;
  std::vector<hocket::time_point> tries;
};

class fake_connection {
 public:
  fake_connection(fake_server& server, int number) noexcept : server_(&server), id_(number) { ++server.open; }
  fake_connection(fake_connection&& other) noexcept
      : server_(std::exchange(other.server_, nullptr)), id_(other.id_), state_(other.state_) {}
  fake_connection& operator=(fake_connection&& other) noexcept {
    std::swap(server_, other.server_);
    std::swap(id_, other.id_);
    std::swap(state_, other.state_);
    return *this;
  }
  ~fake_connection() {
    if (server_) --server_->open;
  }

  hocket::connection_state state() const noexcept { return state_; }
  bool is_idle() noexcept {
    ++server_->looks;
    return state_ == hocket::connection_state::idle && server_->dead.count(id_) == 0;
  }
  hocket::task<hocket::result<void>> drain() {
    ++server_->drains;
    server_->max_draining = std::max(server_->max_draining, ++server_->draining);
    struct leave {
      fake_server& server;
      ~leave() { --server.draining; }
    } at_end{*server_};
    if (server_->drain_gate) co_await or_return(server_->drain_gate->wait());
    if (server_->drain_error) co_return hocket::failure(server_->drain_error);
    state_ = hocket::connection_state::idle;
    co_return {};
  }
  hocket::task<hocket::result<void>> ping() {
    ++server_->pings;
    if (server_->ping_error) co_return hocket::failure(server_->ping_error);
    co_return {};
  }
  void accept_session() noexcept {
    ++server_->accepted;
    if (server_->at_accept) std::exchange(server_->at_accept, nullptr)();
  }

  int id() const noexcept { return id_; }
  void set_state(hocket::connection_state state) noexcept { state_ = state; }

 private:
  fake_server* server_;
  int id_;
  hocket::connection_state state_ = hocket::connection_state::idle;
};

inline hocket::task<hocket::result<fake_connection>> connect_to(fake_server& server) {
  server.tries.push_back(hocket::now());
  server.max_connecting = std::max(server.max_connecting, ++server.connecting);
  struct leave {
    fake_server& server;
    ~leave() { --server.connecting; }
  } at_end{server};
  if (server.latency != hocket::duration{}) {
    auto slept = co_await hocket::sleep_for(server.latency);
    if (!slept) co_return hocket::failure(slept.error());
  }
  if (server.gate) co_await or_return(server.gate->wait());
  std::error_code error{};
  if (!server.errors.empty()) {
    error = server.errors.front();
    server.errors.pop_front();
  }
  if (error) co_return hocket::failure(error);
  const int number = ++server.connects;
  if (server.gives_dead) server.dead.insert(number);
  co_return fake_connection(server, number);
}

struct connect_fake {
  fake_server* server;
  hocket::task<hocket::result<fake_connection>> operator()() const { return connect_to(*server); }
};

using fake_pool = hocket::connection_pool<fake_connection>;

// A loop with virtual time, and a server.
struct fake_world {
  hocket::manual_clock clock{hocket::time_point(1h)};
  hocket::simulated_parker parker{clock};
  hocket::loop lp{{.clock = &clock, .parker = &parker}};
  fake_server server;

  hocket::connection_pool_options options(hocket::connection_pool_options base = {}) const {
    base.clock = &clock;
    return base;
  }
  connect_fake connector() { return {&server}; }
  // Runs a task to its end.
  template <class Body>
  void run(Body body) {
    auto handle = hocket::spawn(lp, std::ref(body));
    lp.run();
    REQUIRE(handle.done());
    sync_wait(handle);
  }
};

inline hocket::task<> run_others() {
  for (int i = 0; i < 20; ++i) static_cast<void>(co_await hocket::yield());
}

}  // namespace hocket_test
