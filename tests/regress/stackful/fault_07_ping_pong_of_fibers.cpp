// Fault 7: two coroutines that wake each other starve a third: here fibers, and a fiber beside tasks.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
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

  void plays(auto_reset_event& mine, auto_reset_event& other) {
    while (third.load() == 0) await(yield());  // all three are there
    for (int i = 0; i < passes; ++i) {
      other.set();
      auto got = await(mine.wait());
      CHECK(got.has_value());
    }
    over = true;
    other.set();
  }
  task<> stands_by_as_task() {
    while (!over.load()) {
      ++third;
      co_await yield();
    }
  }
  void stands_by() {
    while (!over.load()) {
      ++third;
      await(yield());
    }
  }
};

auto spawn_players(game& in, auto& where, auto third) {
  static_cast<void>(spawn(where, &game::plays, &in, std::ref(in.ping), std::ref(in.pong)));
  static_cast<void>(spawn(where, &game::plays, &in, std::ref(in.pong), std::ref(in.ping)));
  return spawn(where, third, &in);
}

}  // namespace

TEST_CASE("fault 7: who yields beside two fibers that wake each other runs as often as each of them") {
  game in;
  SUBCASE("a fiber on a loop") {
    loop lp;
    auto third = spawn_players(in, lp, &game::stands_by);
    lp.run();
  }
  SUBCASE("a fiber on a runtime") {
    hocket::runtime rt({.workers = 1});
    sync_wait(spawn_players(in, rt, &game::stands_by));
  }
  SUBCASE("a task on a runtime") {
    hocket::runtime rt({.workers = 1});
    sync_wait(spawn_players(in, rt, &game::stands_by_as_task));
  }
  CHECK(in.third >= passes);
}
