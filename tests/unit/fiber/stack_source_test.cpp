// Coroutines on memory of the user's (stack/stack_source.hpp): they do all that others do, but do not hibernate.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>

#include "support/stack_arena.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

// Of the program itself, as in one that allocates nothing.
alignas(stack_arena::granule) std::byte memory[8 * megabyte];  // guards take 64 KiB each on some architectures

constexpr stack_layout layouts[] = {stack_layout::guarded, stack_layout::dense, stack_layout::copied};

// What a suspended one owns on the heap is no leak, and is destroyed with it.
auto counter(stack_pool& pool, int from) {
  return coroutine<int()>{pool, [from](auto& self) -> int {
                            const auto own = std::make_unique<std::string>(40, char('a' + from % 26));
                            for (int i = 0; i < 3; ++i) self.yield(from + i);
                            return *own == std::string(40, char('a' + from % 26)) ? from + 3 : -1;
                          }};
}

}  // namespace

TEST_CASE("coroutines run, are destroyed, and throw on the memory of a source") {
  for (stack_layout layout : layouts) {
    stack_arena arena(memory);
    {
      stack_pool pool({.stack_size = 16384, .layout = layout, .source = &arena});
      std::vector<coroutine<int()>> all;
      for (int i = 0; i < 60; ++i) all.push_back(counter(pool, i));
      int wrong = 0;
      for (int step = 0; step < 3; ++step)
        for (int i = 0; i < 60; ++i) wrong += all[std::size_t(i)].resume() != i + step;
      for (int i = 0; i < 30; ++i) wrong += all[std::size_t(i)].resume() != i + 3;
      CHECK(wrong == 0);
      coroutine<int()> failing{pool, [](auto& self) -> int {
                                 self.yield(1);
                                 throw std::runtime_error("from a source's memory");
                               }};
      CHECK(failing.resume() == 1);
      CHECK_THROWS_AS(failing.resume(), std::runtime_error);
      CHECK(arena.in_use() != 0);
    }
    CHECK(arena.slabs() == 0);
    CHECK(arena.wrong() == 0);
    for (std::byte& byte : memory) byte = std::byte{0x5a};  // its owner's again: no guard, no mark of a sanitizer
  }
}

TEST_CASE("a coroutine for which a source has no memory throws, and the next one is made") {
  for (stack_layout layout : layouts) {
    stack_arena arena(memory);
    stack_pool pool({.stack_size = 16384, .limit = 1, .layout = layout, .source = &arena});
    for (std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      arena.refuse_after(k);  // map(), commit()
      try {
        static_cast<void>(counter(pool, 1));
        FAIL("a coroutine was made without memory");
      } catch (const std::system_error& error) {
        CHECK(error.code() == std::errc::not_enough_memory);
      }
      CHECK(arena.slabs() == 0);
    }
    auto one = counter(pool, 7);
    CHECK(one.resume() == 7);
  }
}

TEST_CASE("a coroutine on a source's memory stays awake where another one hibernates" *
          doctest::skip(detail::machine::fibers_are_threads)) {
  stack_arena arena(memory);
  arena.give_back(true);
  stack_pool pool({.stack_size = 16384, .source = &arena}), others({.stack_size = 16384});
  auto one = counter(pool, 1), other = counter(others, 1);
  CHECK(one.resume() + other.resume() == 2);
  CHECK(hibernate(other));
  CHECK_FALSE(hibernate(one));
  CHECK(hibernation_usage().packed == 1);
  CHECK(one.resume() + other.resume() == 4);
}
