// A million suspended coroutines on guarded stacks, under the limits that a system has by default: what each costs,
// and that a guard page is there.
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/detail/control_block.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace hocket;

namespace {

constexpr std::size_t million = 1000000;

// Bytes, from a line of /proc/self/status.
std::size_t status(const char* name) {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  REQUIRE(file != nullptr);
  char line[256];
  std::size_t value = 0;
  while (std::fgets(line, sizeof line, file))
    if (std::strncmp(line, name, std::strlen(name)) == 0) std::sscanf(line + std::strlen(name), "%zu", &value);
  std::fclose(file);
  return value * 1024;
}

std::size_t used() { return status("VmRSS:") + status("VmPTE:"); }

std::size_t mappings() {
  std::FILE* file = std::fopen("/proc/self/maps", "re");
  REQUIRE(file != nullptr);
  std::size_t lines = 0;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) lines += c == '\n';
  std::fclose(file);
  return lines;
}

}  // namespace

TEST_CASE("a million live coroutines on guarded stacks cost 4.4 KB each, and go again") {
  const std::size_t before = used();
  stack_pool pool({.stack_size = 64 * 1024});
  {
    std::vector<coroutine<int()>> all;
    all.reserve(million);
    std::vector<std::byte*> lows;
    for (std::size_t i = 0; i < million; ++i) {
      all.emplace_back(pool, [i, &lows](auto& self) {
        if (i % 100000 == 99999) lows.push_back(stack_pool::stack_of(detail::fiber_thread::current().running).low);
        self.yield(1);
        return 2;
      });
      REQUIRE(all.back().resume() == 1);
    }
    const std::size_t each = (used() - before) / million;
    const std::size_t maps = mappings();
    MESSAGE(each << " bytes each, " << maps << " mappings");
    CHECK(each <= 4400);
    CHECK(maps < 10000);
    CHECK(pool.statistics().unguarded == 0);
    CHECK(lows.size() == 10);
    for (std::byte* low : lows) {
      auto write = [](void* at) {
        std::signal(SIGSEGV, SIG_DFL);
        *static_cast<volatile std::byte*>(at) = std::byte{1};
      };
      CHECK(hocket_test::run_in_child(write, low - 1).how != "the body returned");
      CHECK(hocket_test::run_in_child(write, low).how == "the body returned");
    }
    int sum = 0;
    for (auto& one : all) sum += one.resume();
    CHECK(sum == 2 * static_cast<int>(million));
  }
  pool.trim();
  CHECK(pool.statistics().slabs == 0);
  CHECK(used() < before + (std::size_t{100} << 20));
}
