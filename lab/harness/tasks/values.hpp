#pragma once
// What the tasks of the page `tasks` give: a trivial value and one that is not, as in document 004. The strings are
// short, so that no system pays for the heap, and each value is told by a number, so that the sum can be checked.
#include <cstdint>
#include <string>

#include "harness.hpp"

namespace lab {

template <class T>
struct value;

template <>
struct value<int> {
  static int made(std::uint64_t i) { return static_cast<int>(i & 0xffff); }
  static std::uint64_t number(int v) { return static_cast<std::uint64_t>(v); }
};
template <>
struct value<std::string> {
  static std::string made(std::uint64_t i) { return std::string("eight of", i % 8 + 1); }
  static std::uint64_t number(const std::string& v) { return v.size(); }
};

template <class T>
std::uint64_t sum_of_values(std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += value<T>::number(value<T>::made(i));
  return sum;
}

// 0 to n - 1, each once, in a random order: the same every time, and in every language (Knuth's generator, Fisher and
// Yates's shuffle).
inline std::vector<std::uint32_t> random_order(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
  std::uint64_t state = 42;
  for (std::size_t i = n - 1; i > 0; --i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::swap(order[i], order[(state >> 33) % (i + 1)]);
  }
  return order;
}

}  // namespace lab
