// Values of generators: see operations.cpp.
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/spawn.hpp>

#include "still_loop.hpp"

using hocket::spawn, hocket::task;
using std::size_t;

namespace counts {
namespace {

[[gnu::noinline]] hocket::generator<size_t> numbers(size_t k) {
  for (size_t i = 0; i < k; ++i) co_yield i;
}
[[gnu::noinline]] hocket::generator<const size_t&> referred(size_t k) {
  for (size_t i = 0; i < k; ++i) co_yield i;
}
// The values come from a body that lies in this many others.
hocket::generator<size_t> nested(size_t depth, size_t k) {
  if (depth == 0) co_yield hocket::elements_of(numbers(k));
  else co_yield hocket::elements_of(nested(depth - 1, k));
}

template <class Generator>
void sum_up(Generator generator, size_t k) {
  size_t sum = 0;
  for (size_t i : generator) sum += i;
  must(sum == k * (k - 1) / 2, "a generator gave wrong values");
}

[[gnu::noinline]] hocket::async_generator<size_t> numbers_later(size_t k) {
  for (size_t i = 0; i < k; ++i) co_yield i;
}

}  // namespace

void generator_value(size_t k) { sum_up(numbers(k), k); }
void generator_reference(size_t k) { sum_up(referred(k), k); }
void generator_value_100_deep(size_t k) { sum_up(nested(100, k), k); }
void generator_nested_life(size_t k) {
  sum_up(
      [](size_t n) -> hocket::generator<size_t> {
        for (size_t i = 0; i < n; ++i) {
          auto one = [](size_t value) -> hocket::generator<size_t> { co_yield value; };
          co_yield hocket::elements_of(one(i));
        }
      }(k),
      k);
}

void async_generator_value(size_t k) {
  still_loop on;
  spawn(on.loop, [k]() -> task<void> {
    size_t sum = 0;
    auto all = numbers_later(k);
    while (size_t* i = co_await all.next()) sum += *i;
    must(sum == k * (k - 1) / 2, "an async_generator gave wrong values");
  });
}

}  // namespace counts
