// oneTBB. An arena has as many slots as there are workers; for fork-join the lab's thread is in one of them, as its
// documentation has it (task_arena::execute), and for jobs from outside none is kept for it (enqueue).
//
// fib: parallel_invoke (a task_group takes as long); skynet and nqueens: a task_group, which takes less than a
// parallel_for over the children; flat_loop: parallel_for over the numbers, in pieces of its own choice.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include "scheduler/boards.hpp"

namespace {

namespace tbb = oneapi::tbb;
using lab::load;

std::uint64_t fib(std::size_t n) {
  if (n < 2) return n;
  std::uint64_t first = 0, second = 0;
  tbb::parallel_invoke([&] { first = fib(n - 1); }, [&] { second = fib(n - 2); });
  return first + second;
}

std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) return first;
  std::array<std::uint64_t, 10> sums{};
  tbb::task_group group;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    group.run([&, i] { sums[i] = skynet(first + i * (leaves / 10), leaves / 10); });
  }
  group.wait();
  std::uint64_t sum = 0;
  for (std::uint64_t one : sums) sum += one;
  return sum;
}

std::uint64_t nqueens(const lab::board& queens, std::size_t row, std::size_t n) {
  if (row == n) return 1;
  std::array<std::uint64_t, lab::most_queens> found{};
  tbb::task_group group;
  for (std::size_t column = 0; column < n; ++column) {
    if (!lab::is_free(queens, row, column)) continue;
    group.run([&, column] { found[column] = nqueens(lab::with_queen(queens, row, column), row + 1, n); });
  }
  group.wait();
  std::uint64_t sum = 0;
  for (std::uint64_t one : found) sum += one;
  return sum;
}

class arena {
 public:
  explicit arena(std::size_t workers)
      : most_(tbb::global_control::max_allowed_parallelism, workers), arena_(static_cast<int>(workers)) {}

  std::uint64_t fib(std::size_t n) {
    return arena_.execute([&] { return ::fib(n); });
  }
  std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
    return arena_.execute([&] { return ::skynet(first, leaves); });
  }
  std::uint64_t nqueens(std::size_t n) {
    return arena_.execute([&] { return ::nqueens(lab::board{}, 0, n); });
  }
  void flat_loop(std::uint32_t* to, std::size_t count) {
    arena_.execute([&] { tbb::parallel_for(std::size_t{0}, count, [to](std::size_t i) { lab::iterate(to, i); }); });
  }

 private:
  tbb::global_control most_;
  tbb::task_arena arena_;
};

void post_outside(const char* system, const load& r) {
  tbb::global_control most(tbb::global_control::max_allowed_parallelism, r.workers + 1);
  tbb::task_arena workers(static_cast<int>(r.workers), 0);
  lab::post_outside(system, r, [&](lab::countdown& jobs) { workers.enqueue([&jobs] { jobs.done(); }); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "post_outside") {
    constexpr lab::named_load only[] = {{"post_outside", post_outside}};
    return lab::run_load(LAB_SYSTEM, argc, argv, only);
  }
  return lab::run_load(LAB_SYSTEM, argc, argv, lab::fork_join_loads<arena>);
}
