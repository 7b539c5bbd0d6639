#pragma once
// The workload `routine` of the page `managed`: a switch routine alone, between the program's stack and one other. What
// is around it in a library (who may be resumed, what state it is in) is not measured; the page `switch` has that.
#include "managed.hpp"

namespace lab {

// `there(k)` enters the other stack k times and comes back from it: two switches each. Each entry adds one to `count`.
template <class There>
int run_routine(const char* system, const request& r, const std::uint64_t& count, There&& there) {
  if (r.workload != "routine") fail("this subject knows the workload routine only");
  std::uint64_t expected = 0;
  double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) {
    expected += k;
    return timed([&] { there(k); });
  });
  if (count != expected) fail("the other stack was not entered as often as expected");
  emit(system, "routine", r.n, "k/s", 2 * 1e6 / ns);
  return 0;
}

}  // namespace lab
