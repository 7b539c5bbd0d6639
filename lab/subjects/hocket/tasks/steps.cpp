// hocket's async_generator: a next() for each value. n = 1: one of them; else n are live, asked in a random order.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/task.hpp>

#include "subjects.hpp"
#include "tasks/values.hpp"

namespace {

using numbers = hocket::async_generator<std::uint64_t>;

[[gnu::noinline]] numbers count() {
  for (std::uint64_t i = 0;; ++i) co_yield i;
}

// k values of each; their sum.
hocket::task<std::uint64_t> read(lab::slots<numbers>& all, const std::vector<std::uint32_t>& order, std::uint64_t k) {
  std::uint64_t sum = 0;
  for (; k; --k) {
    for (std::uint32_t i : order) {
      const std::uint64_t* value = co_await all[i].next();
      sum += *value;
    }
  }
  co_return sum;
}

}  // namespace

int lab::steps(const char* system, const request& r) {
  slots<numbers> all{r.n};
  for (std::size_t i = 0; i < r.n; ++i) all.put(i, count);
  std::vector<std::uint32_t> order = random_order(r.n);
  std::uint64_t next = 0;  // of each
  double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) {
    std::uint64_t sum = 0;
    double took = timed([&] { sum = hocket::sync_wait(read(all, order, k)); });
    if (sum != r.n * ((next + k) * (next + k - 1) - next * (next - 1)) / 2) fail("the generators gave other values");
    next += k;
    return took;
  });
  for (std::size_t i = 0; i < r.n; ++i) all.drop(i);
  emit(system, "async_values", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}
