// hocket-oneshot, hocket-oneshot-unsync: n spawned tasks, each of which waits for a oneshot (crowd.hpp).
#include "crowd.hpp"
#include "subjects.hpp"

namespace {

template <class Strength>
double trip(const lab::request& r) {
  lab::crowd<lab::spawned_task, lab::stations<lab::oneshot_gate<int, Strength>>> all{r.n};
  double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) { return all.rounds(k); });
  return ns / static_cast<double>(all.units());
}

}  // namespace

int lab::trips(const char* system, const request& r) {
  bool is_unsync = std::string_view(system).ends_with("unsync");
  emit(system, "oneshot_trip", r.n, "ns",
       is_unsync ? trip<hocket::strength::unsync>(r) : trip<hocket::strength::shared>(r));
  return 0;
}
