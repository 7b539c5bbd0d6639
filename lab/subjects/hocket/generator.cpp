// hocket's generator, read as a range; for the workload `switch`, stepped by its iterator.
#include <hocket/coro/generator.hpp>

#include <optional>

#include "fibonacci.hpp"

namespace {

using sequence = hocket::generator<std::uint64_t>;

[[gnu::noinline]] sequence endless_numbers(lab::line& mine) {
  std::uint64_t a = 0, b = 1;
  while (!mine.stop) {
    ++mine.count;
    co_yield a;
    a = std::exchange(b, a + b);
  }
}
[[gnu::noinline]] sequence first_numbers(std::uint64_t k) {
  std::uint64_t a = 0, b = 1;
  for (; k; --k) {
    co_yield a;
    a = std::exchange(b, a + b);
  }
}

struct ranged {
  // A generator and its iterator, which the first step makes.
  struct type {
    sequence numbers;
    std::optional<sequence::iterator> at{};
  };

  static type endless(lab::line& mine) { return {endless_numbers(mine)}; }
  static type first(std::uint64_t k) { return {first_numbers(k)}; }
  static std::uint64_t next(type& g) {
    step(g);
    return **g.at;
  }
  static bool ended(type& g) {
    step(g);
    return *g.at == g.numbers.end();
  }
  static std::uint64_t sum(type&& g) {
    std::uint64_t sum = 0;
    for (std::uint64_t number : g.numbers) sum += number;
    return sum;
  }

 private:
  static void step(type& g) {
    if (g.at) ++*g.at;
    else g.at.emplace(g.numbers.begin());
  }
};

}  // namespace

int main(int argc, char** argv) { return lab::run_generators<ranged>(LAB_SYSTEM, lab::parse(argc, argv)); }
