// blocking() in fibers: on stacks that stay, and on those that may be packed.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

TEST_CASE("a fiber waits for a blocking call, which may use its locals") {
  blocking_pool pool;
  loop lp;
  auto h = spawn(lp, [&] {
    std::string text = "a local that is longer than a small string";
    auto length = await(blocking(pool, [&] { return text.size(); }));
    return length.value() == text.size();
  });
  lp.run();
  CHECK(sync_wait(std::move(h)));
}

TEST_CASE("a blocking call keeps the stack of a fiber that hibernates where it is") {
  std::atomic<bool> go{false};
  blocking_pool pool;
  loop lp;
  auto h = spawn(lp, {.hibernate_after = 0ns}, [&] {
    int local = 0;
    auto done = await(blocking(pool, [&] {
      while (!go) std::this_thread::yield();
      local = 7;
    }));
    return done ? local : -1;
  });
  while (lp.step()) {
  }
  lp.run_for(1ms);  // time to pack it
  go = true;
  lp.run();
  CHECK(sync_wait(std::move(h)) == 7);
}

TEST_CASE("on a copied stack a blocking call must not refer to locals") {
  {
    blocking_pool pool;
    loop lp;
    auto h = spawn(lp, {.stack = stack_kind::copied}, [&] {
      auto got = await(blocking(pool, [n = 3] { return n; }));
      return got.value();
    });
    lp.run();
    CHECK(sync_wait(std::move(h)) == 3);
  }
  if (detail::machine::fibers_are_threads) return;  // their locals stay where they are
  expect_fatal(
      [] {
        blocking_pool pool;
        loop other;
        spawn(other, {.stack = stack_kind::copied}, [&] {
          void* local = __builtin_frame_address(0);  // AddressSanitizer has true locals elsewhere
          static_cast<void>(await(blocking(pool, [local] { return local != nullptr; })));
        });
        other.run();
      },
      "copied");
}

TEST_CASE("fibers of a runtime come back to their worker from a blocking call") {
  blocking_pool pool;
  hocket::runtime rt({.workers = 2});
  auto body = [&] {
    const auto home = std::this_thread::get_id();
    for (int i = 0; i < 10; ++i) {
      auto got = await(blocking(pool, [i] { return i; }));
      if (!got || *got != i || std::this_thread::get_id() != home) return false;
    }
    return true;
  };
  std::vector<join_handle<bool>> all;
  for (int i = 0; i < 20; ++i) all.push_back(spawn(rt, body));
  for (auto& one : all) CHECK(sync_wait(std::move(one)));
}
