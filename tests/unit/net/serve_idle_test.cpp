// What a server does with idle connections when it ends.
#include <hocket/coro/or_return.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>

#include <array>
#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<result<void>> answer_lines(tcp::stream peer, std::atomic<int>& begun) {
  ++begun;
  buffered_reader reader(peer);
  for (;;) {
    const bool more = co_await or_return(reader.wait_for_message());
    if (!more) co_return {};
    auto line = co_await or_return(reader.read_line());
    co_await or_return(peer.write_all(std::string(line.value_or("")) + "!"));
  }
}

void answer_in_fiber(tcp::stream peer, std::atomic<int>& begun) {
  ++begun;
  for (;;) {
    auto bytes = await(peer.read_idle());
    if (!bytes || bytes->empty()) return;
    static_cast<void>(await(peer.write_all(*bytes)));
  }
}

struct clients {
  std::vector<tcp::stream> all;

  clients(const socket_address& at, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) all.push_back(sync_wait(tcp::connect(at)).value());
  }
  void say(std::size_t which, std::string_view words) { sync_wait(all[which].write_all(words)).value(); }
  std::string hear(std::size_t which) {
    std::array<char, 64> room{};
    return {room.data(), sync_wait(all[which].read_some(room)).value()};
  }
};

template <class Handler>
void end_idle(Handler handler, std::string_view asked, std::string_view answered) {
  runtime rt({.workers = 2});
  std::atomic<int> begun = 0;
  auto server = tcp::serve(rt, "127.0.0.1:0", handler, std::ref(begun)).value();
  clients peers(server.local_address(), 10);
  for (std::size_t i = 0; i < 5; ++i) peers.say(i, asked);
  for (std::size_t i = 0; i < 5; ++i) CHECK(peers.hear(i) == answered);
  while (begun != 10) std::this_thread::yield();
  const shutdown_report told = sync_wait(server.graceful_shutdown({.drain = 24h}));
  CHECK(told.drained == 10);
  CHECK(told.cancelled == 0);
  CHECK(server.connections() == 0);
  for (std::size_t i = 0; i < 10; ++i) CHECK(peers.hear(i).empty());
}

}  // namespace

TEST_CASE("idle connections end when their server does, and none is cancelled") {
  end_idle(answer_lines, "hello\n", "hello!");
  end_idle(answer_in_fiber, "hello", "hello");
}

TEST_CASE("a connection in the middle of a message is answered first") {
  runtime rt({.workers = 2});
  std::atomic<int> begun = 0;
  auto server = tcp::serve(rt, "127.0.0.1:0", answer_lines, std::ref(begun)).value();
  clients peers(server.local_address(), 2);
  peers.say(0, "half");
  while (begun != 2) std::this_thread::yield();
  std::thread client([&] {
    CHECK(peers.hear(1).empty());  // the idle one has been ended
    peers.say(0, " and half\n");
    CHECK(peers.hear(0) == "half of it and half!");
    CHECK(peers.hear(0).empty());
  });
  peers.say(0, " of it");
  const shutdown_report told = sync_wait(server.graceful_shutdown({.drain = 24h}));
  CHECK(told.cancelled == 0);
  client.join();
}

// The descriptors of one server are not those of another.
TEST_CASE("the end of a server leaves the connections of another alone") {
  loop lp;
  std::atomic<int> begun = 0;
  auto first = tcp::serve(lp, "127.0.0.1:0", answer_lines, std::ref(begun)).value();
  auto second = tcp::serve(lp, "127.0.0.1:0", answer_lines, std::ref(begun)).value();
  event answered;
  std::thread client([&] {
    clients ending(first.local_address(), 1), staying(second.local_address(), 1);
    while (begun != 2) std::this_thread::yield();
    ::raise(SIGUSR1);
    CHECK(ending.hear(0).empty());
    staying.say(0, "still here\n");
    CHECK(staying.hear(0) == "still here!");
    answered.set();
  });
  first.run_until(SIGUSR1, {.drain = 24h});
  lp.run_until(spawn(lp, [&] { static_cast<void>(await(answered.wait())); }));
  client.join();
}
