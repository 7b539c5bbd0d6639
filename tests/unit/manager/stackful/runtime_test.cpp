// The end of a task manager in a fiber: it waits there.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "suites/managed_world.hpp"
#include "support/runtime_look.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>

using namespace hocket;
using namespace hocket_test;

namespace {

struct tally {
  event gate;
  std::atomic<int> begun{0}, gone{0}, left{0};
};
struct being {
  explicit being(tally& of) noexcept : t(of) { ++t.begun; }
  being(const being&) = delete;
  ~being() { ++t.gone; }
  tally& t;
};
struct leaves {
  tally& t;
  ~leaves() { t.left = t.gone.load(); }
};

void stand(tally& t) {
  being here(t);
  await(or_throw(t.gate.wait()));
}
task<> stand_as_task(tally& t) {
  being here(t);
  co_await or_throw(t.gate.wait());
}

template <class Where>
void keep_manager(Where& where, tally& t, bool stays) {
  leaves outside{t};
  task_manager tm(where);
  for (int i = 0; i < 5; ++i) {
    spawn(tm, {.within = 1h, .group = 1}, stand, std::ref(t));
    spawn(tm, stand_as_task, std::ref(t));
  }
  auto reply = tm.expect<int>({.within = 1h});
  while (t.begun != 10) await(yield());
  if (stays) await(or_throw(t.gate.wait()));
}

}  // namespace

TEST_CASE("the end of a manager in a fiber of a runtime waits for all that is in it") {
  tally t;
  runtime rt({.workers = 2});
  sync_wait(spawn(rt, keep_manager<runtime>, std::ref(rt), std::ref(t), false));
  CHECK(t.left == 10);
}

TEST_CASE("the end of a manager in a fiber that is killed waits, too") {
  tally t;
  runtime rt({.workers = 2});
  auto keeps = spawn(rt, keep_manager<runtime>, std::ref(rt), std::ref(t), true);
  detail::runtime_look::wait_until_asleep(rt);
  keeps.kill();
  auto ended = sync_wait(keeps.join());
  CHECK_FALSE(ended);
  CHECK(t.left == 10);
}

TEST_CASE("the end of a manager in a fiber of its loop waits for all that is in it") {
  tally t;
  manual_clock time;
  loop lp({.clock = &time});
  auto keeps = spawn(lp, keep_manager<loop>, std::ref(lp), std::ref(t), false);
  lp.run();
  CHECK(keeps.done());
  CHECK(t.left == 10);
  CHECK(lp.live() == 0);
}
