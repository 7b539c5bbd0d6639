// Where fibers are threads: how many there are, and when.
#include "support/death.hpp"
#include "unit/context/strand.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <thread>

using namespace hocket;
using hocket_test::strand;

namespace {

std::ptrdiff_t threads_now() {
  std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

// A thread that was joined is listed for a moment more. Hangs if there are never as many: then the child is killed.
void wait_for_threads(std::ptrdiff_t count) {
  while (threads_now() != count) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a stack costs a thread from its start to its end, and not a moment longer" *
          doctest::skip(detail::sanitizer != detail::sanitizer_kind::plain)) {  // which have threads of their own
  auto child = hocket_test::run_in_child(
      [](void*) {
        auto before = threads_now();
        strand never([](strand&) {});
        strand s([](strand& self) { self.yield(); });
        wait_for_threads(before);
        s.step();
        wait_for_threads(before + 1);
        s.step();
        wait_for_threads(before);
      },
      nullptr);
  CHECK(child.how == "the body returned");
}

TEST_CASE("a thread_local variable is each stack's own, and is destroyed before anybody goes on") {
  static int alive;
  alive = 0;
  struct counted {
    counted() { ++alive; }
    ~counted() { --alive; }
    int value = 0;
  };
  struct own {
    static counted& here() {
      static thread_local counted value;
      return value;
    }
  };
  auto count = [](strand& self) {
    for (int i = 0; i < 2; ++i) self.yield(&++own::here().value);
  };
  strand a(count), b(count);
  for (int i = 1; i <= 2; ++i) {
    CHECK(*static_cast<int*>(a.step()) == i);
    CHECK(*static_cast<int*>(b.step()) == i);
  }
  CHECK(alive == 2);
  a.step();
  CHECK(alive == 1);
  b.step();
  CHECK(alive == 0);
}

TEST_CASE("a stack counts as the thread that switches to it") {
  static const void* seen;
  strand s([](strand& self) {
    for (;;) {
      seen = detail::machine::thread_id();
      if (self.yield()) return;
    }
  });
  s.step();
  CHECK(seen == detail::machine::thread_id());
  const void* there = nullptr;
  std::thread([&] {
    there = detail::machine::thread_id();
    s.step();
  }).join();
  CHECK(seen == there);
  CHECK(there != detail::machine::thread_id());
  s.step(&s);
  CHECK(s.done);
}
