// Allocations of groups: each fails once, and nothing leaks; their number does not depend on the number of children.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/coro/when_some.hpp>

#include "unit/coro/alloc/fail_each.hpp"

#include <doctest/doctest.h>
#include <utility>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

task<int> leaf(counted) {
  counted local;
  co_await yield();
  co_return 1;
}
task<int> tree(counted, int depth) {
  if (depth == 0) co_return co_await leaf(counted{});
  const int left = co_await tree(counted{}, depth - 1);
  co_return left + co_await tree(counted{}, depth - 1);
}
std::vector<task<int>> several(int n, int depth = 0) {
  std::vector<task<int>> all;
  all.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all.push_back(tree(counted{}, depth));
  return all;
}
// Each may fail in a child, so each child is asked.
task<int> grow() {
  int sum = 0;
  for (int one : co_await when_all(several(8, 2))) sum += one;
  for (auto& one : co_await when_all_settled(several(4, 1))) sum += std::move(one).value();
  for (auto& one : co_await when_some(4, several(4, 1))) sum += std::move(one.value).value();
  auto [first, second] = co_await when_all_settled(leaf(counted{}), tree(counted{}, 1));
  co_return sum + std::move(first).value() + std::move(second).value();
}

// What `call` allocates when it was called before.
template <class Call>
std::size_t allocations_of(Call call) {
  std::size_t seen = 0;
  for (int i = 0; i < 2; ++i) {
    auto given = call.children();
    allocation_watch watch;
    call.await(std::move(given));
    seen = watch.allocations();
  }
  return seen;
}
template <class Await>
struct on_range {
  int size;
  Await await_range;
  std::vector<task<int>> children() const { return several(size); }
  void await(std::vector<task<int>> all) const { static_cast<void>(sync_wait(await_range(std::move(all)))); }
};
template <class Await, int... I>
struct on_pack {
  Await await_pack;
  std::vector<task<int>> children() const { return several(sizeof...(I)); }
  void await(std::vector<task<int>> all) const {
    static_cast<void>(sync_wait(await_pack(std::move(all[static_cast<std::size_t>(I)])...)));
  }
};
template <class Await, int... I>
on_pack<Await, I...> packed(Await await, std::integer_sequence<int, I...>) {
  return {await};
}
// A child has a frame: where those are not recycled, each is an allocation.
template <class Await>
void check_range(Await await) {
  if (!detail::recycles_frames) return;
  const std::size_t few = allocations_of(on_range<Await>{10, await});
  CHECK(few > 0);
  CHECK(allocations_of(on_range<Await>{1000, await}) == few);
}
template <class Await>
void check_pack(Await await) {
  if (!detail::recycles_frames) return;
  const std::size_t few = allocations_of(packed(await, std::make_integer_sequence<int, 2>()));
  CHECK(allocations_of(packed(await, std::make_integer_sequence<int, 20>())) == few);
}

}  // namespace

TEST_CASE("fault 63: every allocation of groups fails once, and nothing leaks") {
  fail_each_allocation([] { return sync_wait(grow()); }, 32 + 8 + 8 + 1 + 2, 10);
}

TEST_CASE("a group of a range allocates as often for a thousand children as for ten") {
  check_range([](auto all) { return when_all(std::move(all)); });
  check_range([](auto all) { return when_all_settled(std::move(all)); });
  check_range([](auto all) { return when_any(std::move(all)); });
  check_range([](auto all) { return when_some(3, std::move(all)); });
}

TEST_CASE("a group of a pack allocates as often for twenty children as for two") {
  check_pack([](auto... one) { return when_all(std::move(one)...); });
  check_pack([](auto... one) { return when_all_settled(std::move(one)...); });
  check_pack([](auto... one) { return when_any(std::move(one)...); });
  check_pack([](auto... one) { return when_some(2, std::move(one)...); });
}
