#pragma once
// What the subjects of fork-join share: the board of nqueens, and what comes out.
#include <array>

#include "scheduler/scheduler.hpp"

namespace lab {

inline constexpr std::size_t most_queens = 16;

// The column of the queen in each row so far.
using board = std::array<std::uint8_t, most_queens>;

// Whether a queen in that column of that row is attacked by none above it.
inline bool is_free(const board& queens, std::size_t row, std::size_t column) {
  for (std::size_t above = 0; above < row; ++above) {
    const std::size_t distance = row - above, its = queens[above];
    if (its == column || its + distance == column || its == column + distance) return false;
  }
  return true;
}

inline board with_queen(board queens, std::size_t row, std::size_t column) {
  queens[row] = static_cast<std::uint8_t>(column);
  return queens;
}

inline std::uint64_t solutions(std::size_t queens) {
  constexpr std::uint64_t known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712};
  if (queens >= std::size(known)) fail("the lab does not know how many solutions there are");
  return known[queens];
}

inline std::uint64_t fibonacci(std::size_t n) {
  std::uint64_t before = 1, now = 0;
  for (; n; --n) before = std::exchange(now, now + before);
  return now;
}
// fib(n) is called once for itself, and for each of its branches.
inline double fibonacci_calls(std::size_t n) { return static_cast<double>(2 * fibonacci(n + 1) - 1); }

// The loop's body: iteration i stores its number, and the compiler sees no other way.
inline void iterate(std::uint32_t* to, std::size_t i) {
  to[i] = static_cast<std::uint32_t>(i);
  asm volatile("" : : "r"(to + i) : "memory");
}
inline void check_iterations(std::vector<std::uint32_t>& stored) {
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] != static_cast<std::uint32_t>(i)) fail("an iteration has not run");
    stored[i] = ~std::uint32_t{0};
  }
}

// What a subject of fork-join provides; each is called on a thread of the lab's, and returns the result.
//   std::uint64_t fib(n), skynet(first, leaves), nqueens(n);  void flat_loop(std::uint32_t* to, count)
template <class System, class Call>
double checked(const load& r, Call&& call, std::uint64_t expected) {
  System system{r.workers};
  return median_of_some(r.budget_ns, [&] {
    std::uint64_t result = 0;
    const double ns = timed([&] { result = call(system); });
    if (result != expected) fail("a workload gave another result");
    return ns;
  });
}

template <class System>
void fib(const char* name, const load& r) {
  const double ns = checked<System>(r, [&](System& s) { return s.fib(r.count); }, fibonacci(r.count));
  r.emit_of(name, "fib", "ns", ns / fibonacci_calls(r.count));
}

template <class System>
void skynet(const char* name, const load& r) {
  const std::uint64_t expected = static_cast<std::uint64_t>(r.count) * (r.count - 1) / 2;
  const double ns = checked<System>(r, [&](System& s) { return s.skynet(0, r.count); }, expected);
  r.emit_of(name, "skynet", "ms", ns / 1e6);
}

template <class System>
void nqueens(const char* name, const load& r) {
  const double ns = checked<System>(r, [&](System& s) { return s.nqueens(r.count); }, solutions(r.count));
  r.emit_of(name, "nqueens", "ms", ns / 1e6);
}

template <class System>
void flat_loop(const char* name, const load& r) {
  System system{r.workers};
  std::vector<std::uint32_t> stored(r.count, ~std::uint32_t{0});
  const double ns = median_of_some(r.budget_ns, [&] {
    const double took = timed([&] { system.flat_loop(stored.data(), r.count); });
    check_iterations(stored);
    return took;
  });
  r.emit_of(name, "flat_loop", "ns", ns / static_cast<double>(r.count));
}

template <class System>
inline constexpr named_load fork_join_loads[] = {
    {"fib", fib<System>},
    {"skynet", skynet<System>},
    {"nqueens", nqueens<System>},
    {"flat_loop", flat_loop<System>},
};

}  // namespace lab
