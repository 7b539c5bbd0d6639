// hocket's fork_join and parallel_for on a runtime. The ten children of skynet are known when compiling, those of
// nqueens are a vector of tasks. LAB_EACH: children that are made when their turn has come, by fork_join of callables
// and fork_each.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "scheduler/boards.hpp"

#include <array>
#include <numeric>

namespace {

using hocket::fork_each;
using hocket::fork_join;
using hocket::task;

#if defined(LAB_EACH)
task<std::uint64_t> fib(std::size_t n) {
  if (n < 2) co_return n;
  auto [first, second] = co_await fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  co_return first + second;
}

task<std::uint64_t> skynet(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) co_return first;
  const std::uint64_t part = leaves / 10;
  std::array<std::uint64_t, 10> sums;
  co_await fork_each(sums.size(), [=](std::size_t i) { return skynet(first + i * part, part); }, sums);
  co_return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

task<std::uint64_t> nqueens(lab::board queens, std::size_t row, std::size_t n) {
  if (row == n) co_return 1;
  std::array<std::uint8_t, lab::most_queens> columns;
  std::size_t free = 0;
  for (std::size_t column = 0; column < n; ++column) {
    if (lab::is_free(queens, row, column)) columns[free++] = static_cast<std::uint8_t>(column);
  }
  std::array<std::uint64_t, lab::most_queens> sums;
  auto child = [&](std::size_t i) { return nqueens(lab::with_queen(queens, row, columns[i]), row + 1, n); };
  co_await fork_each(free, child, sums);
  co_return std::accumulate(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(free), std::uint64_t{0});
}
#else
task<std::uint64_t> fib(std::size_t n) {
  if (n < 2) co_return n;
  auto [first, second] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return first + second;
}

task<std::uint64_t> skynet(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) co_return first;
  const std::uint64_t part = leaves / 10;
  auto child = [&](std::uint64_t i) { return skynet(first + i * part, part); };
  auto sums = co_await fork_join(child(0), child(1), child(2), child(3), child(4), child(5), child(6), child(7),
                                 child(8), child(9));
  co_return std::apply([](auto... each) { return (each + ...); }, sums);
}

task<std::uint64_t> nqueens(lab::board queens, std::size_t row, std::size_t n) {
  if (row == n) co_return 1;
  std::vector<task<std::uint64_t>> children;
  children.reserve(n);
  for (std::size_t column = 0; column < n; ++column) {
    if (lab::is_free(queens, row, column)) {
      children.push_back(nqueens(lab::with_queen(queens, row, column), row + 1, n));
    }
  }
  std::uint64_t sum = 0;
  for (std::uint64_t one : co_await fork_join(std::move(children))) sum += one;
  co_return sum;
}
#endif

task<> flat_loop(std::uint32_t* to, std::size_t count) {
  co_await hocket::parallel_for(std::size_t{0}, count, [to](std::size_t i) { lab::iterate(to, i); });
}

class forks {
 public:
  explicit forks(std::size_t workers) : runtime_({.workers = workers}) {}

  std::uint64_t fib(std::size_t n) { return hocket::sync_wait(hocket::spawn(runtime_, ::fib, n)); }
  std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
    return hocket::sync_wait(hocket::spawn(runtime_, ::skynet, first, leaves));
  }
  std::uint64_t nqueens(std::size_t n) {
    return hocket::sync_wait(hocket::spawn(runtime_, ::nqueens, lab::board{}, std::size_t{0}, n));
  }
  void flat_loop(std::uint32_t* to, std::size_t count) {
    hocket::sync_wait(hocket::spawn(runtime_, ::flat_loop, to, count));
  }

 private:
  hocket::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_load(LAB_SYSTEM, argc, argv, lab::fork_join_loads<forks>); }
