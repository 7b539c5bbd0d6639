// Hibernation: what it costs to pack a parked coroutine (`freeze`, all of them in one call), to bring it back (`thaw`,
// by a round trip of it), and what remains of it meanwhile (`hibernated`, everything counted).
//
//   hocket-hibernated  coroutines that are parked in a yield
//   page-touched       the unit of comparison: a byte written to a fresh page for each, a stack apart
#include <hocket/fiber/hibernate.hpp>

#include <span>

#include "slab.hpp"

namespace {

using coroutine = hocket::coroutine<void()>;

struct cost {
  std::vector<double> freeze{}, thaw{};
  double bytes = 0;
};

double memory_in_use() { return lab::resident_bytes() + lab::page_table_bytes(); }

cost touch(const lab::request& r) {
  cost all;
  double end = lab::now_ns() + 2 * r.budget_ns;
  while (all.freeze.size() < 3 || (all.freeze.size() < 99 && lab::now_ns() < end)) {
    double before = memory_in_use();
    lab::address_space pages{r.n, r.stack + 4096};
    all.freeze.push_back(lab::timed([&] {
      for (std::size_t i = 0; i < r.n; ++i) pages.top(i)[-64] = std::byte{1};
    }));
    all.bytes = memory_in_use() - before;
  }
  all.thaw = all.freeze;
  return all;
}

class parked {
 public:
  explicit parked(const lab::request& r) : n_{r.n}, stacks_{{.stack_size = r.stack}}, lines_{r.n}, coroutines_{r.n} {
    for (std::size_t i = 0; i < n_; ++i) {
      lines_[i] = lab::line{0, false};
      coroutines_.put(i, [&] { return coroutine{stacks_, [&mine = lines_[i]](auto& self) { life(self, mine); }}; });
    }
    resume();
  }
  parked(const parked&) = delete;
  parked& operator=(const parked&) = delete;
  ~parked() {
    for (std::size_t i = 0; i < n_; ++i) lines_[i].stop = true;
    resume();
    for (std::size_t i = 0; i < n_; ++i) coroutines_.drop(i);
  }

  void pack() {
    std::span all{&coroutines_[0], n_};
    if (hocket::hibernate(all) != n_) lab::fail("a parked coroutine does not hibernate");
  }
  void resume() {
    for (std::size_t i = 0; i < n_; ++i) coroutines_[i].resume();
  }
  void check(std::uint64_t turns) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (lines_[i].count != turns) lab::fail("a coroutine did not run as it should");
    }
  }

 private:
  [[gnu::always_inline]] static void life(auto& self, lab::line& mine) {
    while (!mine.stop) {
      ++mine.count;
      self.yield();
    }
  }

  std::size_t n_;
  hocket::stack_pool stacks_;
  lab::slots<lab::line> lines_;
  lab::slots<coroutine> coroutines_;
};

cost hibernate(const lab::request& r) {
  cost all;
  double before = memory_in_use(), own = static_cast<double>(r.n * (sizeof(lab::line) + sizeof(coroutine)));
  parked coroutines{r};
  std::uint64_t turns = 1;
  double end = lab::now_ns() + 2 * r.budget_ns;
  while (all.freeze.size() < 3 || (all.freeze.size() < 99 && lab::now_ns() < end)) {
    all.freeze.push_back(lab::timed([&] { coroutines.pack(); }));
    all.bytes = memory_in_use() - before - own;
    all.thaw.push_back(lab::timed([&] { coroutines.resume(); }));
    coroutines.check(++turns);
  }
  return all;
}

}  // namespace

int lab::hibernation(const char* system, const request& r) {
  std::string_view name = system;
  if (name != "hocket-hibernated" && name != "page-touched") unknown_system();
  cost all = name == "page-touched" ? touch(r) : hibernate(r);
  double n = static_cast<double>(r.n);
  emit(system, "freeze", r.n, "ns", median(all.freeze) / n);
  emit(system, "thaw", r.n, "ns", median(all.thaw) / n);
  emit(system, "hibernated", r.n, "B", std::max(0.0, all.bytes) / n);
  return 0;
}
