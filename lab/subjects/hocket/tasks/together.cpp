// n tasks in a vector: awaited by when_all (hocket-when-all), or one after the other (hocket-task-each). Both create
// and destroy them, too.
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/loop.hpp>

#include "subjects.hpp"
#include "tasks/values.hpp"

namespace {

using hocket::task;

[[gnu::noinline]] task<int> leaf(std::uint64_t i) { co_return lab::value<int>::made(i); }

std::vector<task<int>> tasks(std::uint64_t n) {
  std::vector<task<int>> all;
  all.reserve(n);
  for (std::uint64_t i = 0; i < n; ++i) all.push_back(leaf(i));
  return all;
}

task<std::uint64_t> at_once(std::uint64_t n) {
  std::uint64_t sum = 0;
  std::vector<int> values = co_await hocket::when_all(tasks(n));
  for (int one : values) sum += lab::value<int>::number(one);
  co_return sum;
}

task<std::uint64_t> one_by_one(std::uint64_t n) {
  std::uint64_t sum = 0;
  for (auto all = tasks(n); auto& one : all) sum += lab::value<int>::number(co_await std::move(one));
  co_return sum;
}

template <class Body>
double rounds(Body body, std::uint64_t n, std::uint64_t k) {
  hocket::loop loop;
  std::uint64_t sum = 0;
  hocket::spawn(loop, [&]() -> task<void> {
    for (std::uint64_t i = 0; i < k; ++i) sum += co_await body(n);
  });
  double ns = lab::timed([&] { loop.run(); });
  if (sum != k * lab::sum_of_values<int>(n)) lab::fail("the tasks gave another sum");
  return ns;
}

}  // namespace

int lab::together(const char* system, const request& r) {
  auto body = std::string_view(system) == "hocket-when-all" ? &at_once : &one_by_one;
  double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) { return rounds(body, r.n, k); });
  emit(system, "when_all", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}
