// Creation and first entry of a coroutine, and the page faults that come with it.
//
//   hocket-fresh  of a pool that is new, so every stack is memory that was never touched
//   hocket-warm   of a pool that had as many before
//   first-touch   the unit of comparison: one byte written to each of n fresh pages, a stack apart
#include <hocket/fiber/coroutine.hpp>
#include <hocket/stack/stack_pool.hpp>

#include <sys/resource.h>

#include <optional>

#include "slab.hpp"

namespace {

using coroutine = hocket::coroutine<void()>;

struct taken {
  std::vector<double> ns{};
  std::vector<double> faults{};
};

double faults_so_far() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_minflt);
}

template <class F>
void take(taken& all, std::size_t n, F&& f) {
  double before = faults_so_far();
  all.ns.push_back(lab::timed(f) / static_cast<double>(n));
  all.faults.push_back((faults_so_far() - before) / static_cast<double>(n));
}

class entered {
 public:
  explicit entered(std::size_t n) : n_{n}, coroutines_{n}, lines_{n} {}

  void create_and_enter(hocket::stack_pool& stacks) {
    for (std::size_t i = 0; i < n_; ++i) {
      lab::line& mine = lines_[i] = lab::line{0, false};
      coroutines_.put(i, [&] {
        return coroutine{stacks, [&mine](auto& self) {
                           ++mine.count;
                           self.yield();
                         }};
      });
      coroutines_[i].resume();
    }
  }
  void finish() {
    for (std::size_t i = 0; i < n_; ++i) {
      coroutines_[i].resume();
      if (lines_[i].count != 1 || !coroutines_[i].done()) lab::fail("a coroutine did not run as it should");
      coroutines_.drop(i);
    }
  }

 private:
  std::size_t n_;
  lab::slots<coroutine> coroutines_;
  lab::slots<lab::line> lines_;
};

}  // namespace

int lab::first_entry(const char* system, const request& r) {
  std::string_view name = system;
  taken all;
  entered coroutines{r.n};
  std::optional<hocket::stack_pool> stacks;
  double end = now_ns() + 2 * r.budget_ns;
  bool is_warm = name == "hocket-warm", is_touch = name == "first-touch";
  if (!is_warm && !is_touch && name != "hocket-fresh") unknown_system();
  auto again = [&] {
    if (is_touch) {
      address_space pages{r.n, r.stack + 8192};
      take(all, r.n, [&] {
        for (std::size_t i = 0; i < r.n; ++i) pages.top(i)[-64] = std::byte{1};
      });
      return;
    }
    if (!is_warm || !stacks) stacks.emplace(hocket::stack_options{.stack_size = r.stack});
    take(all, r.n, [&] { coroutines.create_and_enter(*stacks); });
    coroutines.finish();
  };
  again();
  if (is_warm) all = {};  // that one was fresh
  while (all.ns.size() < 3 || (all.ns.size() < 99 && now_ns() < end)) again();
  emit(system, "first_entry", r.n, "ns", median(all.ns));
  emit(system, "faults", r.n, "faults", median(all.faults));
  return 0;
}
