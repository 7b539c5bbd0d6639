#include "support/alloc.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <new>
#include <thread>

using hocket_test::allocation_watch;

namespace {
// Keeps the compiler from removing a pair of new and delete.
void touch(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }
}  // namespace

TEST_CASE("allocations and releases of this thread are counted") {
  allocation_watch watch;
  touch(std::make_unique<int>(1).get());
  touch(std::make_unique<int[]>(4).get());
  auto [allocations, releases, bytes] = std::array{watch.allocations(), watch.releases(), watch.bytes()};
  CHECK(allocations == 2);
  CHECK(releases == 2);
  CHECK(bytes == 5 * sizeof(int));
}

TEST_CASE("another thread's allocations are not counted") {
  std::atomic<bool> go{false};
  std::unique_ptr<int> foreign;
  std::thread worker([&] {
    go.wait(false);
    foreign = std::make_unique<int>(7);
  });
  std::size_t counted = 0;
  {
    allocation_watch watch;
    go = true;
    go.notify_one();
    worker.join();
    counted = watch.allocations();
  }
  CHECK(*foreign == 7);
  CHECK(counted == 0);
}

TEST_CASE("the nth allocation fails, and only that one") {
  bool thrown = false;
  allocation_watch watch(2);
  auto first = std::make_unique<int>(1);
  touch(first.get());
  try {
    touch(std::make_unique<int>(2).get());
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  touch(std::make_unique<int>(3).get());
  CHECK(thrown);
  CHECK(watch.has_failed());
}

TEST_CASE("an over-aligned allocation is aligned and can fail without an exception") {
  struct alignas(256) wide {
    char bytes[256];
  };
  auto kept = std::make_unique<wide>();
  touch(kept.get());
  CHECK(reinterpret_cast<std::uintptr_t>(kept.get()) % 256 == 0);
  allocation_watch watch(1);
  std::unique_ptr<wide> none(new (std::nothrow) wide);
  CHECK(none == nullptr);
}
