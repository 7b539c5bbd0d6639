// Hibernation: what it costs to pack a parked coroutine (`freeze`, all of them in one call), to bring it back (`thaw`,
// by a round trip of it), and what remains of it meanwhile (`hibernated`, everything counted: control block, image,
// page tables). And what the same coroutine takes on other stacks, counted in the same way (`parked`).
//
//   hocket-hibernated  coroutines that are parked in a yield
//   page-touched       the unit of comparison: a byte written to a fresh page for each, a stack apart
//
//   hocket-live        each on a stack of its own
//   hocket-copied      all on one stack, so that all but one are images
//
// What is live of each, its frames and the record above them, is known from its image, and must be what the bars mean.
#include <hocket/fiber/hibernate.hpp>

#include <span>

#include "slab.hpp"

namespace {

using coroutine = hocket::coroutine<void()>;

struct cost {
  std::vector<double> freeze{}, thaw{};
  double bytes = 0;
};

cost touch(const lab::request& r) {
  cost all;
  double end = lab::now_ns() + 2 * r.budget_ns;
  while (all.freeze.size() < 3 || (all.freeze.size() < 99 && lab::now_ns() < end)) {
    double before = lab::memory_in_use();
    lab::address_space pages{r.n, r.stack + 4096};
    all.freeze.push_back(lab::timed([&] {
      for (std::size_t i = 0; i < r.n; ++i) pages.top(i)[-64] = std::byte{1};
    }));
    all.bytes = lab::memory_in_use() - before;
  }
  all.thaw = all.freeze;
  return all;
}

class parked {
 public:
  parked(std::size_t n, std::size_t size, hocket::stack_layout layout)
      : n_{n}, stacks_{{.stack_size = size, .layout = layout}}, lines_{n}, coroutines_{n} {
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

  // The lab's own, touched from the start.
  static double own_bytes(std::size_t n) { return static_cast<double>(n * (sizeof(lab::line) + sizeof(coroutine))); }

  void pack() {
    std::span all{&coroutines_[0], n_};
    if (hocket::hibernate(all) != n_) lab::fail("a parked coroutine does not hibernate");
    const std::size_t live = hocket::hibernation_usage().image_bytes / n_ - sizeof(hocket::detail::stack_image);
    if (live < least_live || live > most_live) lab::fail("what is live of a coroutine is not what the bars mean");
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

  static constexpr std::size_t least_live = 256, most_live = 384;

  std::size_t n_;
  hocket::stack_pool stacks_;
  lab::slots<lab::line> lines_;
  lab::slots<coroutine> coroutines_;
};

cost hibernate(const lab::request& r) {
  cost all;
  const double before = lab::memory_in_use();
  parked coroutines{r.n, r.stack, hocket::stack_layout::guarded};
  std::uint64_t turns = 1;
  double end = lab::now_ns() + 2 * r.budget_ns;
  while (all.freeze.size() < 3 || (all.freeze.size() < 99 && lab::now_ns() < end)) {
    all.freeze.push_back(lab::timed([&] { coroutines.pack(); }));
    all.bytes = lab::memory_in_use() - before - parked::own_bytes(r.n);
    all.thaw.push_back(lab::timed([&] { coroutines.resume(); }));
    coroutines.check(++turns);
  }
  return all;
}

double bytes_on(hocket::stack_layout layout, const lab::request& r) {
  parked{1, r.stack, hocket::stack_layout::guarded}.pack();
  const double before = lab::memory_in_use();
  parked coroutines{r.n, r.stack, layout};
  return lab::memory_in_use() - before - parked::own_bytes(r.n);
}

}  // namespace

int lab::parked_bytes(const char* system, const request& r) {
  std::string_view name = system;
  if (name != "hocket-live" && name != "hocket-copied") unknown_system();
  const auto layout = name == "hocket-copied" ? hocket::stack_layout::copied : hocket::stack_layout::guarded;
  emit(system, "parked", r.n, "B", std::max(0.0, bytes_on(layout, r)) / static_cast<double>(r.n));
  return 0;
}

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
