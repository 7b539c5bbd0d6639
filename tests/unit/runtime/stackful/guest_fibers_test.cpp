// Fibers on a loop that is the guest of another event loop.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/descriptor_parker.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>

#include "unit/runtime/host.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

int hear(event& bell) { return await(bell.wait()) ? 1 : 0; }

void nap(bool& unwound) {
  struct witness {
    bool& gone;
    ~witness() { gone = true; }
  } local{unwound};
  static_cast<void>(await(sleep_for(std::chrono::hours(1))));
}

}  // namespace

TEST_CASE("a fiber that waits for another thread is woken through the host's epoll") {
  for (bool by_edge : {false, true}) {
    descriptor_parker rings;
    loop lp({.parker = &rings});
    epoll_host host(rings, by_edge);
    event bell;
    auto heard = spawn(lp, hear, std::ref(bell));
    lp.poll();
    std::thread other([&] { bell.set(); });
    host.run(lp);
    other.join();
    CHECK(sync_wait(heard) == 1);
  }
}

TEST_CASE("a fiber that sleeps unwinds when its loop is destroyed in the host's wait") {
  bool unwound = false;
  descriptor_parker rings;
  {
    loop lp({.parker = &rings});
    spawn(lp, nap, std::ref(unwound));
    lp.poll();
    const time_point until = lp.begin_sleep();
    CHECK(until > lp.now());
    CHECK(until < time_point::max());
  }
  CHECK(unwound);
}
