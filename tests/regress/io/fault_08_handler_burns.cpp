// FAULTS 8 and 61, for servers: handlers that compute and never wait, that throw, that are killed, peers that never
// read or never write, and signals while the server ends. The others are served, and the server ends.
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>

#include "support/death.hpp"
#include "support/waits.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

struct surroundings {
  std::atomic<bool> enough{false};
  std::atomic<int> burning{0}, begun{0};
};

// By the peer's first byte: echo, compute until told, throw, or write to a peer that reads nothing.
task<result<void>> behave(tcp::stream peer, surroundings& in) {
  ++in.begun;
  std::array<char, 64> buffer;
  while (std::size_t n = co_await or_return(peer.read_some(buffer))) {
    if (buffer[0] == 'b') {
      ++in.burning;
      while (!in.enough) {
      }
    }
    if (buffer[0] == 't') throw std::runtime_error("a handler that throws");
    if (buffer[0] == 'w') {
      const std::vector<char> much(20'000'000);
      co_await or_return(peer.write_all(much));
    }
    co_await or_return(peer.write_all(std::span(buffer.data(), n)));
  }
  co_return {};
}
void behave_in_fiber(tcp::stream peer, surroundings& in) { static_cast<void>(await(behave(std::move(peer), in))); }

tcp::stream client_that_says(const tcp::server& to, std::string_view words) {
  auto peer = sync_wait(tcp::connect(to.local_address())).value();
  sync_wait(peer.write_all(words)).value();
  return peer;
}

bool is_answered(tcp::stream& peer, std::string_view words) {
  std::string answer(words.size(), '\0');
  return sync_wait(peer.read_exactly(answer)) == words.size() && answer == words;
}

bool is_heard(int signal) {
  struct sigaction present{};
  ::sigaction(signal, nullptr, &present);
  return present.sa_handler != SIG_DFL;
}

template <class Handler>
void serve_beside_misbehaviour(Handler handler) {
  surroundings in;
  runtime rt({.workers = 2});
  auto server = tcp::serve(rt, "127.0.0.1:0", {.connection = {.migratable = true}}, handler, std::ref(in)).value();
  auto burner = client_that_says(server, "burn");
  while (in.burning != 1) std::this_thread::yield();
  auto throws = client_that_says(server, "throw");
  auto reads_nothing = client_that_says(server, "write");
  auto says_nothing = sync_wait(tcp::connect(server.local_address())).value();
  for (int i = 0; i < 100; ++i) {
    auto peer = client_that_says(server, "echo");
    CHECK(is_answered(peer, "echo"));
  }
  char byte = 0;
  CHECK(sync_wait(throws.read_some(std::span(&byte, 1))) == std::size_t{0});
  in.enough = true;
  CHECK(is_answered(burner, "burn"));
  auto report =
      sync_wait(spawn(rt, &tcp::server::graceful_shutdown, &server, shutdown_options{.drain = 0s, .cancel = 60s}));
  CHECK(report.remaining == 0);
  CHECK(server.connections() == 0);
}

}  // namespace

TEST_CASE("handlers that compute, throw and wait in vain do not keep a server from the others (fault 8)") {
  serve_beside_misbehaviour(&behave);
  serve_beside_misbehaviour(&behave_in_fiber);
}

TEST_CASE("signals while a server ends do not end it sooner, nor the process (fault 61)") {
  const child_end end = end_of_child([] {
    std::signal(SIGTERM, SIG_DFL);
    surroundings in;
    runtime rt({.workers = 2});
    auto server = tcp::serve(rt, "127.0.0.1:0", behave, std::ref(in)).value();
    auto peer = client_that_says(server, "hello");
    CHECK(is_answered(peer, "hello"));
    std::thread sender([&] {
      while (!is_heard(SIGTERM)) std::this_thread::yield();
      ::raise(SIGTERM);
      while (sync_wait(tcp::connect(server.local_address()))) std::this_thread::yield();  // it refuses: it is ending
      for (int i = 0; i < 3; ++i) ::raise(SIGTERM);
      sync_wait(peer.write_all("still here")).value();
      CHECK(is_answered(peer, "still here"));
      peer.close();
    });
    const shutdown_report told = server.run_until({SIGTERM, SIGINT}, {.drain = 50s});
    sender.join();
    CHECK(told.cancelled == 0);
    CHECK(told.killed == 0);
    CHECK(server.connections() == 0);
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}
