// Fault 33: a stack cannot be had. Address space, the pool's limit, the mappings for guards, a size beyond reason: the
// constructor throws or the handle of the spawn has the error, nothing crashes, nothing is leaked, and the next works.
#include <hocket/context/detail/platform/annotation.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "stack/memory.hpp"
#include "support/death.hpp"
#include "support/valgrind.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <system_error>
#include <vector>

using namespace hocket;

namespace {

// How a spawned fiber failed to begin; code 0 if it did not.
std::system_error failure_of(join_handle<void>& handle) {
  try {
    await(handle);
  } catch (const std::system_error& error) {
    return error;
  }
  return std::system_error(std::error_code{});
}
std::error_code error_of(join_handle<void>& handle) { return failure_of(handle).code(); }

void require(bool holds) {
  if (!holds) std::abort();
}

void in_child(void (*body)()) {
  auto end = hocket_test::run_in_child([](void* f) { (*static_cast<void (**)()>(f))(); }, &body);
  CHECK_MESSAGE(end.how == "the body returned", end.errors);
}

// Suspended coroutines on one pool, as many as there can be.
std::size_t fill(stack_pool& pool, std::vector<coroutine<void()>>& all, std::size_t most) {
  while (all.size() < most) {
    try {
      all.emplace_back(pool, [](auto& self) { self.yield(); });
    } catch (const std::system_error& error) {
      require(error.code() == std::errc::not_enough_memory);
      break;
    }
    all.back().resume();
  }
  return all.size();
}

// A stack of 1 GiB fits once. While a fiber is parked on it there is none for a second one, and the small ones go on.
void beside_one_of_a_gibibyte() {
  const spawn_options huge{.stack_size = std::size_t{1} << 30};
  event end;
  loop lp;
  auto first = spawn(lp, huge, [&] { static_cast<void>(await(end.wait())); });
  auto second = spawn(lp, huge, [] {});
  auto small = spawn(lp, {.stack_size = 65536}, [&] { end.set(); });
  lp.run();
  require(error_of(first) == std::error_code{});
  require(error_of(second) == std::errc::not_enough_memory);
  require(error_of(small) == std::error_code{});
  auto next = spawn(lp, huge, [] {});
  lp.run();
  require(error_of(next) == std::error_code{});
}

void without_address_space() {
  std::vector<coroutine<void()>> all;
  all.reserve(1000);
  stack_pool pool({.stack_size = std::size_t{64} << 20});
  const rlimit limit{std::size_t{2} << 30, std::size_t{2} << 30};
  require(setrlimit(RLIMIT_AS, &limit) == 0);
  void* beyond = mmap(nullptr, std::size_t{4} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (beyond != MAP_FAILED) return;  // qemu-user takes the limit and does not keep it
  for (int round = 0; round < 3; ++round) {
    const std::size_t count = fill(pool, all, 1000);
    require(count > 4 && count < 40);
    require(pool.statistics().live == static_cast<std::ptrdiff_t>(count));
    all.clear();
    require(pool.statistics().live == 0);
    pool.trim();
    require(pool.statistics().reserved == 0);
  }
  beside_one_of_a_gibibyte();
}

// One pool has all the guards that the process may have: who needs another one has no stack.
void without_mappings() {
  detail::refuse_guard_markers();
  const spawn_options of_no_other_case{.stack_size = std::size_t{4} << 20};
  loop lp;
  {
    stack_pool greedy({.stack_size = 4096}), other({.stack_size = 16384});
    std::vector<stack_ref> stacks;
    for (auto stack = greedy.acquire();; stack = greedy.acquire()) {
      if (!stack) {
        require(stack.error() == std::errc::not_enough_memory);
        break;
      }
      stacks.push_back(*stack);
    }
    require(stacks.size() > 1000);
    std::vector<coroutine<void()>> none;
    require(fill(other, none, 1) == 0);
    require(other.statistics().live == 0);
    auto fails = spawn(lp, of_no_other_case, [] {});
    lp.run();
    const std::system_error failure = failure_of(fails);
    require(failure.code() == std::errc::not_enough_memory);
    require(std::string(failure.what()).find("vm.max_map_count") != std::string::npos);
    for (const stack_ref& stack : stacks) greedy.release(stack);
  }
  auto works = spawn(lp, of_no_other_case, [] {});
  lp.run();
  require(error_of(works) == std::error_code{});
}

}  // namespace

// Sanitizers reserve terabytes: an address space limit would end the process.
TEST_CASE("fault 33: no address space for a stack" *
          doctest::skip(detail::sanitizer != detail::sanitizer_kind::plain || detail::machine::fibers_are_threads)) {
  in_child(&without_address_space);
}

// Valgrind itself cannot follow so many mappings.
TEST_CASE("fault 33: no mappings for guards" * doctest::skip(hocket_test::runs_in_valgrind())) {
  in_child(&without_mappings);
}

TEST_CASE("fault 33: the limit of a pool") {
  stack_pool pool({.stack_size = 16384, .limit = 2});
  int destroyed = 0;
  struct witness {
    int* count;
    explicit witness(int& of) : count(&of) {}
    witness(witness&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    ~witness() {
      if (count) ++*count;
    }
  };
  {
    auto body = [](witness kept) { return [kept = std::move(kept)](auto& self) { self.yield(); }; };
    coroutine<void()> one(pool, body(witness(destroyed)));
    coroutine<void()> two(pool, body(witness(destroyed)));
    CHECK_THROWS_AS(static_cast<void>(coroutine<void()>(pool, body(witness(destroyed)))), std::system_error);
    CHECK(destroyed == 1);  // what it was given is gone
  }
  CHECK(destroyed == 3);
  coroutine<void()> next(pool, [](auto&) {});
  next.resume();
}

TEST_CASE("fault 33: a size that there is none of") {
  loop lp;
  auto absurd = spawn(lp, {.stack_size = std::size_t{4} << 40}, [] {});
  auto usual = spawn(lp, [] {});
  lp.run();
  CHECK(error_of(absurd) == std::errc::invalid_argument);
  CHECK(error_of(usual) == std::error_code{});
}

TEST_CASE("fault 33: what is too big for its stack gives the stack back") {
  stack_pool pool({.stack_size = 4096});
  struct big {
    char bytes[32 * 1024];  // a stack of 4 KiB has up to two pages more, by its stride
  };
  CHECK_THROWS_AS(static_cast<void>(coroutine<void()>(pool, [it = big{}](auto&) { static_cast<void>(it); })),
                  std::system_error);
  CHECK(pool.statistics().live == 0);
}
