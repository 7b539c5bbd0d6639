#pragma once
// What the tasks of the page `tasks` give: a trivial value and one that is not, as in document 004. The strings are
// short, so that no system pays for the heap, and each value is told by a number, so that the sum can be checked.
#include <cstdint>
#include <numeric>
#include <random>
#include <string>

#include "../harness.hpp"

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

// 0 to n - 1, each once, in the same random order every time.
inline std::vector<std::uint32_t> random_order(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937{42});
  return order;
}

}  // namespace lab
