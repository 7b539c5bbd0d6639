// The Fibonacci numbers by a generator, which throws when it is asked for more of them than 64 bits can hold.
//
// usage: fibonacci [how many]
#include <hocket/coro/generator.hpp>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

namespace {

constexpr unsigned long most = 94;

hocket::generator<std::uint64_t> fibonacci(unsigned long count) {
  if (count > most) throw std::runtime_error("more than 94 Fibonacci numbers: the next one has more than 64 bits");
  std::uint64_t last = 1, next = 0;
  for (unsigned long i = 0; i < count; ++i) {
    co_yield next;
    const std::uint64_t sum = last + next;
    last = next;
    next = sum;
  }
}

}  // namespace

int main(int arguments, char** values) {
  const unsigned long count = arguments > 1 ? std::strtoul(values[1], nullptr, 10) : 10;
  try {
    unsigned n = 0;
    for (const std::uint64_t number : fibonacci(count)) std::printf("fib(%u)=%" PRIu64 "\n", n++, number);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "Exception: %s\n", failure.what());
    return 1;
  }
  return 0;
}
