// Fault 7: two coroutines that wake each other starve a third. It is resumed as often as each of them, for what was
// woken last goes to the end of the queue like anything else. (Fibers: stackful/fault_07_ping_pong_of_fibers.cpp.)
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>

#include <atomic>
#include <doctest/doctest.h>

using namespace hocket;

namespace {

constexpr int passes = 10'000;

struct game {
  auto_reset_event ping, pong;
  std::atomic<bool> over{false};
  std::atomic<int> third{0};

  task<> plays(auto_reset_event& mine, auto_reset_event& other) {
    while (third.load() == 0) co_await yield();  // all three are there
    for (int i = 0; i < passes; ++i) {
      other.set();
      auto got = co_await mine.wait();
      CHECK(got.has_value());
    }
    over = true;
    other.set();
  }
  task<> stands_by() {
    while (!over.load()) {
      ++third;
      co_await yield();
    }
  }
};

auto spawn_players(game& in, auto& where) {
  static_cast<void>(spawn(where, &game::plays, &in, std::ref(in.ping), std::ref(in.pong)));
  static_cast<void>(spawn(where, &game::plays, &in, std::ref(in.pong), std::ref(in.ping)));
  return spawn(where, &game::stands_by, &in);
}

}  // namespace

TEST_CASE("fault 7: who yields beside two that wake each other runs as often as each of them") {
  game in;
  SUBCASE("on a loop") {
    loop lp;
    auto third = spawn_players(in, lp);
    lp.run();
  }
  SUBCASE("on a runtime") {
    hocket::runtime rt({.workers = 1});
    auto third = spawn_players(in, rt);
    sync_wait(std::move(third));
  }
  CHECK(in.third >= passes);
}
