// Small stacks, each on pages of its own or side by side on huge pages: round trips of bare coroutines, and what a
// stack of one that is parked takes (resident memory and page tables).
//
//   hocket-own-pages          each with its guard and its page of colours (stack_layout::guarded)
//   hocket-dense              side by side, a canary each; huge pages where the system gives them
//   hocket-dense-small-pages  the same where the process may have no huge pages
#include <sys/prctl.h>

#include "bare.hpp"
#include "slab.hpp"

int lab::dense(const char* system, const request& r) {
  std::string_view name = system;
  const bool is_small = name == "hocket-dense-small-pages", is_dense = is_small || name == "hocket-dense";
  if (!is_dense && name != "hocket-own-pages") unknown_system();
  if (is_small && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) fail("the kernel does not let huge pages be forbidden");
  const auto own = static_cast<double>(r.n * (sizeof(hocket::stack_ref) + sizeof(void*) + sizeof(line)));
  const double before = memory_in_use();
  pooled_stacks stacks{r.n, r.stack, is_dense ? hocket::stack_layout::dense : hocket::stack_layout::guarded};
  bare_coroutines coroutines{r.n, r.stack, [&](std::size_t i) { return stacks.top(i); }};
  auto nothing = [](std::size_t) {};
  double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) { return coroutines.rounds(k, nothing); });
  coroutines.check();
  const double bytes = std::max(0.0, memory_in_use() - before - own);
  emit(system, "dense", r.n, "ns", ns / static_cast<double>(r.n));
  emit(system, "dense_bytes", r.n, "B", bytes / static_cast<double>(r.n));
  return 0;
}
