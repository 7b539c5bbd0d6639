// Round trips of bare coroutines, one after the other in the order of their stacks, or in a random one; and a prefetch
// of the stack and the line of the coroutine that comes eight later.
//
//   in-order, random-order, in-order-prefetched, random-order-prefetched
#include <numeric>
#include <random>

#include "bare.hpp"
#include "slab.hpp"

namespace {

constexpr std::size_t ahead = 8;

// Each of n once. Behind the last the first few again, so that what is ahead of it need not be asked for.
std::vector<std::uint32_t> order_of(std::size_t n, bool is_random) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  if (is_random) std::shuffle(order.begin(), order.end(), std::mt19937{42});
  for (std::size_t i = 0; i < ahead; ++i) order.push_back(order[i % n]);
  return order;
}

}  // namespace

int lab::order(const char* system, const request& r) {
  std::string_view name = system;
  bool is_random = name.starts_with("random-order"), is_prefetched = name.ends_with("-prefetched");
  if (!is_random && !name.starts_with("in-order")) unknown_system();
  pooled_stacks stacks{r.n, r.stack};
  bare_coroutines coroutines{r.n, r.stack, [&](std::size_t i) { return stacks.top(i); }};
  std::vector<std::uint32_t> order = order_of(r.n, is_random);
  auto nothing = [](std::size_t) {};
  auto prefetch = [&](std::size_t i) { coroutines.prefetch(order[i + ahead]); };
  double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) {
    return is_prefetched ? coroutines.rounds_in(order.data(), k, prefetch)
                         : coroutines.rounds_in(order.data(), k, nothing);
  });
  coroutines.check();
  emit(system, "order", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}
