// What a library may do at each switch besides switching, in round trips of bare coroutines.
//
//   hocket-plain    nothing
//   relaxed-count   a counter that others may read: a relaxed load and a relaxed store
//   locked-count    a counter that others may write: one atomic read-modify-write a round trip
//   locked-state    the coroutine's own state, changed from "suspended" to "running" before and back after, each by an
//                   atomic compare-exchange, as a library does whose coroutines may be resumed by any thread
#include <atomic>

#include "bare.hpp"
#include "slab.hpp"

namespace {

enum state : std::uint32_t { suspended, running };

struct alignas(64) state_word {
  std::atomic<std::uint32_t> value{suspended};

  void change(std::uint32_t from, std::uint32_t to) {
    if (!value.compare_exchange_strong(from, to, std::memory_order_acq_rel)) lab::fail("a state is not as expected");
  }
};

}  // namespace

int lab::atomics(const char* system, const request& r) {
  std::string_view name = system;
  pooled_stacks stacks{r.n, r.stack};
  bare_coroutines coroutines{r.n, r.stack, [&](std::size_t i) { return stacks.top(i); }};
  slots<state_word> states{r.n};
  for (std::size_t i = 0; i < r.n; ++i) ::new (static_cast<void*>(&states[i])) state_word;
  std::atomic<std::uint64_t> counter{0};
  std::uint64_t expected = 0;
  auto measure = [&](auto before) {
    return median_of_rounds(r.budget_ns, [&](std::size_t k) {
      expected += k * r.n;
      return coroutines.rounds(k, before);
    });
  };
  double ns = 0;
  if (name == "hocket-plain") {
    ns = measure([](std::size_t) {});
    counter = expected;
  } else if (name == "relaxed-count") {
    ns = measure(
        [&](std::size_t) { counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); });
  } else if (name == "locked-count") {
    ns = measure([&](std::size_t) { counter.fetch_add(1, std::memory_order_relaxed); });
  } else if (name == "locked-state") {
    // The one before is back from its switch when the next one goes.
    std::size_t last = r.n;
    ns = measure([&](std::size_t i) {
      if (last != r.n) states[last].change(running, suspended);
      states[last = i].change(suspended, running);
    });
    counter = expected;
  } else {
    unknown_system();
  }
  coroutines.check();
  if (counter != expected) fail("the counter does not show the round trips");
  emit(system, "atomics", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}
