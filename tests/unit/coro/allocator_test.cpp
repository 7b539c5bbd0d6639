#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/task.hpp>

#include <cstdint>
#include <doctest/doctest.h>
#include <string>

using namespace hocket;

namespace {

struct usage {
  int allocations = 0;
  int releases = 0;
  std::size_t bytes = 0;
};

// Stateful: counts in a record of the caller's.
template <class T>
struct counting {
  using value_type = T;
  usage* record;
  explicit counting(usage& r) : record(&r) {}
  template <class U>
  counting(const counting<U>& other) : record(other.record) {}
  T* allocate(std::size_t n) {
    ++record->allocations;
    record->bytes += n * sizeof(T);
    return std::allocator<T>{}.allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    ++record->releases;
    record->bytes -= n * sizeof(T);
    std::allocator<T>{}.deallocate(p, n);
  }
  friend bool operator==(const counting&, const counting&) = default;
};

template <class T>
struct refusing {
  using value_type = T;
  refusing() = default;
  template <class U>
  refusing(const refusing<U>&) {}
  T* allocate(std::size_t) { throw std::bad_alloc(); }
  void deallocate(T*, std::size_t) {}
  friend bool operator==(const refusing&, const refusing&) = default;
};

// Out of line, all of them: else Clang may put the frame into the caller's and ask no allocator.
[[gnu::noinline]] task<std::string> text(std::allocator_arg_t, counting<char>, std::string from) {
  co_return from + "!";
}
[[gnu::noinline]] task<int> plain(std::allocator_arg_t, std::allocator<std::byte>, int n) { co_return n; }
[[gnu::noinline]] task<int> refused(std::allocator_arg_t, refusing<char>, int n) { co_return n; }
[[gnu::noinline]] generator<int> count(std::allocator_arg_t, counting<int>, int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}
[[gnu::noinline]] generator<int> counts_twice(std::allocator_arg_t, counting<int> from, int n) {
  for (int i = 0; i < 2; ++i) co_yield elements_of(count(std::allocator_arg, from, n));
}
[[gnu::noinline]] async_generator<int> count_later(std::allocator_arg_t, counting<int>, int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

struct service {
  int base;
  [[gnu::noinline]] task<int> add(std::allocator_arg_t, counting<char>, int n) { co_return base + n; }
};

}  // namespace

TEST_CASE("a leading std::allocator_arg gives a frame from the allocator, and gives it back") {
  usage used;
  CHECK(sync_wait(text(std::allocator_arg, counting<char>(used), "frame")) == "frame!");
  CHECK(used.allocations == 1);
  CHECK(used.releases == 1);
  CHECK(used.bytes == 0);

  int sum = 0;
  for (int n : count(std::allocator_arg, counting<int>(used), 5)) sum += n;
  CHECK(sum == 10);
  CHECK(used.allocations == 2);
  CHECK(used.releases == 2);
  CHECK(used.bytes == 0);

  sum = 0;
  for (int n : counts_twice(std::allocator_arg, counting<int>(used), 5)) sum += n;
  CHECK(sum == 20);
  CHECK(used.allocations == 5);
  CHECK(used.releases == 5);
  CHECK(used.bytes == 0);

  {
    auto later = count_later(std::allocator_arg, counting<int>(used), 5);
    while (int* n = sync_wait(later.next())) sum += *n;
  }
  CHECK(sum == 30);
  CHECK(used.allocations == 6);
  CHECK(used.releases == 6);
  CHECK(used.bytes == 0);

  CHECK(sync_wait(plain(std::allocator_arg, {}, 3)) == 3);
}

TEST_CASE("member functions and lambdas take an allocator after their object") {
  usage used;
  service adder{40};
  CHECK(sync_wait(adder.add(std::allocator_arg, counting<char>(used), 2)) == 42);
  auto lambda = [](std::allocator_arg_t, counting<char>, int n) -> task<int> { co_return n; };
  CHECK(sync_wait(lambda(std::allocator_arg, counting<char>(used), 6)) == 6);
  CHECK(used.allocations == 2);
  CHECK(used.releases == 2);
}

TEST_CASE("what an allocator throws comes out of the coroutine function") {
  CHECK_THROWS_AS(static_cast<void>(refused(std::allocator_arg, {}, 1)), std::bad_alloc);
}

TEST_CASE("an allocated child is awaited like any other") {
  usage used;
  auto parent = [&]() -> task<std::size_t> {
    std::size_t length = 0;
    for (int i = 0; i < 1000; ++i) {
      length += (co_await text(std::allocator_arg, counting<char>(used), "x")).size();
    }
    co_return length;
  };
  CHECK(sync_wait(parent()) == 2000);
  CHECK(used.allocations == 1000);
  CHECK(used.bytes == 0);
}
