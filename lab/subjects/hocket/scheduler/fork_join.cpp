// hocket's fork_join and parallel_for on a runtime. The ten children of skynet are known when compiling, those of
// nqueens are a vector of tasks.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "scheduler/boards.hpp"

namespace {

using hocket::fork_join;
using hocket::task;

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
