// A kill that reaches the parent of a scope before it reaches the children: they are killed by the unwinding scope.
#include <hocket/core/context.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include <doctest/doctest.h>
#include <latch>
#include <thread>

using namespace hocket;

namespace {

// Holds up the request that fires it, until the children of the scope have ended.
struct holds_request : detail::stop_node {
  explicit holds_request(std::latch& until) : children_ended(until) {
    fire = [](detail::stop_node& self, stop_level) noexcept {
      static_cast<holds_request&>(self).children_ended.wait();
    };
  }
  std::latch& children_ended;
};

struct notes {
  event never;
  std::latch running{1}, children_ended{1};
  bool cancelled = false;
};

struct at_end {
  ~at_end() { ended.count_down(); }
  std::latch& ended;
};

task<> waits_in_scope(notes& to) {
  at_end unwinding{to.children_ended};
  if (!co_await to.never.wait()) to.cancelled = true;
}

task<> yields_beside_child(notes& to, scope& all) {
  spawn(all, waits_in_scope, std::ref(to));
  co_await yield();
  to.running.count_down();
  for (;;) co_await yield();
}

}  // namespace

TEST_CASE("children of a scope that unwinds by a kill are killed, though the kill has not reached them") {
  loop lp;
  notes shared;
  holds_request holder(shared.children_ended);
  auto parent = [&]() -> task<> {
    REQUIRE(current_context().stop()->attach(holder) == stop_level::none);
    auto body = [&](scope& all) { return yields_beside_child(shared, all); };
    co_await in_scope(body);
  };
  auto handle = spawn(lp, parent);
  std::thread killer([&] {
    shared.running.wait();
    handle.kill();
  });
  lp.run();
  killer.join();
  CHECK_FALSE(shared.cancelled);
  CHECK(handle.done());
}
