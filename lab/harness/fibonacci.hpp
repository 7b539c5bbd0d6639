#pragma once
// The generator subjects produce Fibonacci numbers modulo 2^64, so that a sequence has no end.
//
// A system describes its generator by a class with
//   using type = ...;                      the generator
//   static type endless(lab::line&)        counts each value in the line, ends when the line says stop
//   static type first(std::uint64_t k)     the first k values
//   static std::uint64_t next(type&)       steps on and gives the value
//   static bool ended(type&)               steps on and says whether that was the end
//   static std::uint64_t sum(type)         consumes the rest in the way its users would
#include "tasks/values.hpp"

namespace lab {

inline std::uint64_t fibonacci_sum(std::uint64_t k) {
  std::uint64_t a = 0, b = 1, sum = 0;
  for (; k; --k) {
    sum += a;
    a = std::exchange(b, a + b);
  }
  return sum;
}

template <class Kind>
class generators {
 public:
  generators(std::size_t n, std::size_t) : generators_{n} {}

  void create(std::size_t i, line& mine) {
    generators_.put(i, [&] { return Kind::endless(mine); });
  }
  void resume(std::size_t i) { seen_ += Kind::next(generators_[i]); }
  void finish(std::size_t i) {
    if (!Kind::ended(generators_[i])) fail("a generator went on after its end");
  }
  void drop(std::size_t i) { generators_.drop(i); }

 private:
  slots<typename Kind::type> generators_;
  volatile std::uint64_t sink_ = 0;
  std::uint64_t seen_ = 0;

 public:
  generators(const generators&) = delete;
  ~generators() { sink_ = seen_; }
};

template <class Kind>
int run_batch(const char* system, const request& r) {
  return run_batches(system, r, [](std::size_t k) { return Kind::sum(Kind::first(k)) == fibonacci_sum(k); });
}

// n generators live, one step of each in a random order.
template <class Kind>
int run_values(const char* system, const request& r) {
  if (r.n == 1) return run_batch<Kind>(system, r);
  slots<line> lines{r.n};
  generators<Kind> all{r.n, r.stack};
  std::vector<std::uint32_t> order = random_order(r.n);
  for (std::size_t i = 0; i < r.n; ++i) all.create(i, lines[i] = line{0, false});
  std::uint64_t expected = 0;
  double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) {
    expected += k;
    return timed([&] {
      for (; k; --k) {
        for (std::uint32_t i : order) all.resume(i);
      }
    });
  });
  for (std::size_t i = 0; i < r.n; ++i) {
    if (lines[i].count != expected) fail("a generator's counter does not show the expected values");
    lines[i].stop = true;
    all.finish(i);
    all.drop(i);
  }
  emit(system, "values", r.n, "ns", ns / static_cast<double>(r.n));
  return 0;
}

template <class Kind>
int run_generators(const char* system, const request& r) {
  if (r.workload == "switch") return run_switch<generators<Kind>>(system, r);
  if (r.workload == "values") return run_values<Kind>(system, r);
  if (r.workload == "generator") return run_batch<Kind>(system, r);
  fail("this subject knows the workloads switch, generator and values");
}

}  // namespace lab
