// What goes on elsewhere beside a worker that is stuck: fibers, if they are migratable.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "unit/runtime/stuck_worker.hpp"
#include "unit/runtime/wire.hpp"

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

TEST_CASE("migratable fibers that wait or sleep at a worker that is stuck go on elsewhere, others when it comes back") {
  wire line;
  stuck_worker on;
  if (!detail::has_asymmetric_fences()) return;
  const spawn_options moves{.migratable = true};
  std::vector<join_handle<>> all;
  all.push_back(spawn(on.place, moves, [&] {
    REQUIRE(await(within(30s, readable(line.fd()))).has_value());
    ++on.served;
  }));
  all.push_back(spawn(on.place, moves, [&] {
    REQUIRE(await(sleep_for(1ms)).has_value());
    ++on.served;
  }));
  std::atomic<int> came_back{0};
  all.push_back(spawn(on.place, [&] {
    REQUIRE(await(sleep_for(1ms)).has_value());
    came_back = on.served + 1;
  }));
  CHECK(on.holds_until(2, [&] {
    line.send();
    on.time.advance(1ms);
  }));
  for (auto& one : all) sync_wait(std::move(one));
  CHECK(came_back == 3);
}

TEST_CASE("a deadline of a fiber that stays fires on its worker: what it waits at may be for one thread only") {
  stuck_worker on;
  unsync::event bell;
  auto waiter = spawn(on.place, [&] { CHECK(await(within(5ms, bell.wait())).error() == std::errc::timed_out); });
  detail::runtime_look::wait_until_asleep(on.rt);
  auto holder = spawn(on.place, [&] {
    on.time.advance(5ms);
    std::thread([&] {
      for (int i = 0; i < 3; ++i) detail::runtime_look::watch(on.rt);
    }).join();
    bell.reset();
  });
  sync_wait(std::move(holder));
  sync_wait(std::move(waiter));
}
