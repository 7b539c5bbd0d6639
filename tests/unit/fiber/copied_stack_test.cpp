// Raw coroutines that share stacks: each finds its frames where they were, whoever ran meanwhile.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr stack_options copied{.layout = stack_layout::copied};

// Counts up in a recursion, so that frames of different sizes are parked; checks its own variables after each yield.
int walk(coroutine<int()>::self& self, int seed, int depth) {
  std::string text(std::size_t(20 + seed % 40), char('a' + seed % 26));
  int marks[16];
  int* const own = marks;
  for (int i = 0; i < 16; ++i) marks[i] = seed * 100 + i;
  self.yield(depth);
  int below = depth > 0 ? walk(self, seed + 1, depth - 1) : 0;
  self.yield(depth);
  int wrong = own != marks || text != std::string(std::size_t(20 + seed % 40), char('a' + seed % 26));
  for (int i = 0; i < 16; ++i) wrong += marks[i] != seed * 100 + i;
  return below + wrong;
}

auto walker(stack_pool& pool, int seed) {
  return coroutine<int()>{pool, [seed](auto& self) -> int { return 1000 + walk(self, seed, seed % 5); }};
}

struct witness {
  std::string* log;
  char name;
  ~witness() { *log += name; }
};

}  // namespace

TEST_CASE("coroutines on one stack take turns in any order") {
  stack_pool pool(copied);
  std::vector<coroutine<int()>> all;
  for (int i = 0; i < 50; ++i) all.push_back(walker(pool, i));
  std::vector<std::size_t> left(all.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (unsigned random = 12345; !left.empty();) {
    random = random * 1664525 + 1013904223;
    std::size_t& chosen = left[(random >> 16) % left.size()];
    const int got = all[chosen].resume();
    if (!all[chosen].done()) continue;
    CHECK(got == 1000);
    chosen = left.back();
    left.pop_back();
  }
  CHECK(pool.statistics().live == 50);
  all.clear();
  CHECK(pool.statistics().live == 0);
}

TEST_CASE("more coroutines than one shared stack takes") {
  stack_pool pool(copied);
  std::vector<coroutine<int()>> all;
  for (int i = 0; i < 3000; ++i) all.push_back(walker(pool, i));
  for (bool more = true; more;) {
    more = false;
    for (auto& each : all) {
      if (each.done()) continue;
      more = true;
      if (int got = each.resume(); each.done()) CHECK(got == 1000);
    }
  }
}

TEST_CASE("values, references and exceptions travel") {
  stack_pool pool(copied);
  coroutine<std::unique_ptr<int>(std::string)> talk{pool, [](auto& self, std::string word) {
                                                      word = self.yield(std::make_unique<int>(int(word.size())));
                                                      return std::make_unique<int>(int(word.size()) * 10);
                                                    }};
  coroutine<int&(int&)> mirror{pool, [](auto& self, int& first) -> int& {
                                 int& second = self.yield(first);
                                 return second;
                               }};
  coroutine<void()> thrower{pool, [](auto& self) {
                              self.yield();
                              throw std::runtime_error("gone wrong");
                            }};
  int one = 1, two = 2;
  CHECK(*talk.resume("voice") == 5);
  CHECK(&mirror.resume(one) == &one);
  thrower.resume();
  CHECK(*talk.resume("rest") == 40);
  CHECK(&mirror.resume(two) == &two);
  CHECK_THROWS_WITH(thrower.resume(), "gone wrong");
  CHECK(thrower.done());
}

TEST_CASE("a finished one keeps its result's place until it is destroyed, whoever has the stack") {
  std::string log;
  stack_pool pool(copied);
  coroutine<std::unique_ptr<witness>()> first{pool,
                                              [&](auto&) { return std::make_unique<witness>(witness{&log, 'r'}); }};
  coroutine<int()> other{pool, [](auto& self) -> int {
                           self.yield(1);
                           return 2;
                         }};
  first.resume().reset();
  log.clear();
  other.resume();
  CHECK(first.done());
  CHECK(first.status() == coroutine_status::finished);
  first.reset();
  CHECK(other.resume() == 2);
}

TEST_CASE("destroyed while another has the stack, it unwinds") {
  std::string log;
  stack_pool pool(copied);
  auto body = [&](char name) {
    return [&log, name](auto& self) -> int {
      witness last{&log, name};
      self.yield(1);
      return 2;
    };
  };
  coroutine<int()> a{pool, body('a')}, b{pool, body('b')}, unstarted{pool, body('c')};
  a.resume();
  b.resume();
  a.reset();
  CHECK(log == "a");
  unstarted.reset();
  b.reset();
  CHECK(log == "ab");
}

TEST_CASE("exceptions that are being handled stay with their coroutine") {
  stack_pool pool(copied);
  auto body = [](const char* what) {
    return [what](auto& self) -> bool {
      try {
        throw std::runtime_error(what);
      } catch (const std::runtime_error&) {
        self.yield(false);
        try {
          throw;
        } catch (const std::runtime_error& again) {
          return std::string(again.what()) == what;
        }
      }
    };
  };
  coroutine<bool()> a{pool, body("a")}, b{pool, body("b")};
  a.resume();
  b.resume();
  CHECK(a.resume());
  CHECK(b.resume());
}

TEST_CASE("a call on another stack may wait, while its caller's frames are saved") {
  stack_pool pool(copied);
  auto body = [](int n) {
    return [n](auto& self) -> int {
      int before = n * 3;
      int inside = call_on_big_stack([&] {
        int own = n * 5;
        self.yield(1);
        return own + call_on_big_stack([&] {
                 self.yield(2);
                 return before;
               });
      });
      return inside + before;
    };
  };
  coroutine<int()> a{pool, body(1)}, b{pool, body(10)};
  CHECK(a.resume() == 1);
  CHECK(b.resume() == 1);
  CHECK(a.resume() == 2);
  CHECK(b.resume() == 2);
  CHECK(a.resume() == 5 + 3 + 3);
  CHECK(b.resume() == 50 + 30 + 30);
}

TEST_CASE("nesting: a coroutine on a copied stack resumes one that has a stack of its own, or another pool") {
  stack_pool pool(copied), other(copied);
  coroutine<int()> outer{pool, [&](auto& self) -> int {
                           coroutine<int()> own{[](auto& me) -> int {
                             me.yield(1);
                             return 2;
                           }};
                           coroutine<int()> copy{other, [](auto& me) -> int {
                                                   me.yield(10);
                                                   return 20;
                                                 }};
                           int sum = own.resume() + copy.resume();
                           self.yield(sum);
                           return own.resume() + copy.resume();
                         }};
  coroutine<int()> neighbour{pool, [](auto&) -> int { return 7; }};
  CHECK(outer.resume() == 11);
  CHECK(neighbour.resume() == 7);
  CHECK(outer.resume() == 22);
}

TEST_CASE("they do not hibernate: they are packed already") {
  stack_pool pool(copied);
  auto one = walker(pool, 1);
  one.resume();
  CHECK_FALSE(hibernate(one));
}

TEST_CASE("what runs on the stack cannot give it away") {
  expect_fatal(
      [] {
        stack_pool pool(copied);
        coroutine<int()> inner{pool, [](auto&) -> int { return 1; }};
        coroutine<int()> outer{pool, [&](auto&) -> int { return inner.resume(); }};
        outer.resume();
      },
      "by one that runs on the same copied stack");
  expect_fatal(
      [] {
        stack_pool pool(copied);
        coroutine<int()> outer{pool, [&](auto&) -> int {
                                 coroutine<int()> inner{pool, [](auto&) -> int { return 1; }};
                                 return 0;
                               }};
        outer.resume();
      },
      "by one that runs on the same copied stack");
}

TEST_CASE("it is a raw coroutine: it cannot await") {
  expect_fatal(
      [] {
        stack_pool pool(copied);
        coroutine<int()> one{pool, [](auto&) -> int {
                               await(yield());
                               return 1;
                             }};
        one.resume();
      },
      "await was called in a raw coroutine");
}

TEST_CASE("a finished one that was packed cannot be resumed") {
  expect_fatal(
      [] {
        stack_pool pool(copied);
        coroutine<int()> done{pool, [](auto&) -> int { return 1; }};
        done.resume();
        coroutine<int()> other{pool, [](auto&) -> int { return 2; }};
        other.resume();
        done.resume();
      },
      "a finished coroutine was resumed");
}
