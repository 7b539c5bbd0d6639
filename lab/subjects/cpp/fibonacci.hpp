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
#include "harness.hpp"

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
int run_generators(const char* system, const request& r) {
  if (r.workload == "switch") return run_switch<generators<Kind>>(system, r);
  if (r.workload != "generator") fail("this subject knows the workloads switch and generator");
  return run_batches(system, r, [](std::size_t k) { return Kind::sum(Kind::first(k)) == fibonacci_sum(k); });
}

}  // namespace lab
