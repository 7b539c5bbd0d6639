// Coroutine objects that move, end and outlive things while others look at them.
#include <hocket/fiber/coroutine.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;

TEST_CASE("a coroutine may make the vector grow that holds it") {
  std::vector<coroutine<int()>> all;
  all.emplace_back([&](auto&) {
    for (int i = 0; i < 100; ++i) all.emplace_back([i](auto&) { return i; });
    return -1;
  });
  CHECK(all[0].resume() == -1);
  CHECK(all[0].done());
  for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i].resume() == static_cast<int>(i) - 1);
}

TEST_CASE("a coroutine that is moved while it runs goes on, and ends where it was moved to") {
  coroutine<std::unique_ptr<int>()> a, b;
  a = coroutine<std::unique_ptr<int>()>{[&](auto& self) {
    b = std::move(a);
    self.yield(std::make_unique<int>(1));
    return std::make_unique<int>(2);
  }};
  CHECK(*a.resume() == 1);
  CHECK_FALSE(a);
  CHECK(b.status() == coroutine_status::suspended);
  CHECK(*b.resume() == 2);
  CHECK(b.done());
}

TEST_CASE("an assignment may take from a local of the coroutine that it destroys") {
  coroutine<int()>* next = nullptr;
  coroutine<int()> head{[&](auto& self) {
    coroutine<int()> inner{[](auto&) { return 7; }};
    next = &inner;
    self.yield(0);
    return 0;
  }};
  head.resume();
  head = std::move(*next);
  CHECK(head.resume() == 7);
}

TEST_CASE("a thread may end before its coroutines, whatever pool they are on") {
  std::optional<stack_pool> pool;
  coroutine<void()> left_behind;
  hocket_test::expect_fatal(
      [&] {
        std::thread([&] {
          pool.emplace();
          left_behind = coroutine<void()>{*pool, [](auto& self) { self.yield(); }};
          left_behind.resume();
        }).join();
        std::thread([] {}).join();
        left_behind.resume();
      },
      "resumed by a thread that did not create it");
}

namespace {
struct resumed_late {
  std::optional<coroutine<int()>> c;
  int* last = nullptr;
  ~resumed_late() {
    if (last) *last = c->resume();
  }
};
}  // namespace

TEST_CASE("a thread whose fibers' state is gone already still resumes a coroutine of its own") {
  if (detail::machine::fibers_are_threads) return;
  int last = 0;
  std::thread([&] {
    static thread_local resumed_late late;  // made before the state of the fibers, so destroyed after it
    late.c.emplace([](auto& self) {
      self.yield(1);
      return 2;
    });
    CHECK(late.c->resume() == 1);
    late.last = &last;
  }).join();
  CHECK(last == 2);
}

TEST_CASE("a callable is its body's own, however small, large or unwilling to be copied") {
  struct large {
    int from[64] = {};
    int operator()(coroutine_self<int, void>& self) {
      self.yield(from[0]++);
      return from[0];
    }
  };
  int count = 5;
  coroutine<int()> small{[count](auto& self) mutable {
    self.yield(count++);
    return count;
  }};
  coroutine<int()> many{large{{7}}};
  coroutine<int()> unique{[p = std::make_unique<int>(9)](auto& self) {
    self.yield((*p)++);
    return *p;
  }};
  CHECK(small.resume() == 5);
  CHECK(small.resume() == 6);
  CHECK(count == 5);
  CHECK(many.resume() == 7);
  CHECK(many.resume() == 8);
  CHECK(unique.resume() == 9);
  CHECK(unique.resume() == 10);
}

TEST_CASE("a null name is no name, not a null pointer") {
  coroutine<void()> c{{.name = outliving_name(nullptr)}, [](auto&) {}};
  CHECK(std::string(c.name()) == "unnamed");
}
