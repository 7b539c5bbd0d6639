#pragma once
// The shared code of the C++ subjects of the page `managed`. Its two workloads are the two tests of document 001, the
// same in every language; scheduled.hpp has them for the systems with a scheduler.
//
//   switches  the n coroutines take turns, round after round: thousands of changes per second from one coroutine to the
//             next, in the way of the system: through an owner, through a scheduler, or directly.
//   memory    all n are created and run to their first suspension ("live"), then take ten more turns ("peak"). No
//             clock is read. The driver reads the memory of the process from outside (labkit/memory.py) at the
//             subject's request, so that every language is measured with the same instrument.
//
// A turn adds one to the counter of the coroutine that takes it, and every counter must show all its turns, as on the
// page `switch`.
#include "harness.hpp"

namespace lab {

constexpr std::uint64_t turns_before_peak = 10;

// Requests a reading of this process from the driver, and waits until it is done.
inline void let_read(const char* what) {
  std::puts(what);
  std::fflush(stdout);
  std::getchar();
}

inline void emit_switches(const char* system, std::size_t n, double ns_each) {
  emit(system, "switches", n, "k/s", 1e6 / ns_each);
}

// A set of coroutines under test provides
//   Ring(n, stack bytes)
//   create(i, line&)   constructs coroutine i, which does not run yet
//   rounds(k)          k turns of each, be they the first
//   finish()           the last turn of each: the lines say stop, and all coroutines end
//   drop(i)            destroys the finished coroutine
//   rest()             optional: treats all coroutines as if they had waited for long
template <class Ring>
class managed_page {
 public:
  managed_page(const char* system, const request& r)
      : system_{system}, n_{r.n}, budget_{r.budget_ns}, lines_{r.n}, ring_{r.n, r.stack} {}

  int switches() {
    start();
    double ns = median_of_rounds(budget_, [&](std::size_t k) { return rounds(k); });
    finish();
    emit_switches(system_, n_, ns / static_cast<double>(n_));
    return 0;
  }

  int memory() {
    start();
    rest();
    let_read("live");
    rounds(turns_before_peak);
    rest();
    let_read("peak");
    finish();
    return 0;
  }

 private:
  void rest() {
    if constexpr (requires { ring_.rest(); }) ring_.rest();
  }
  void check() {
    for (std::size_t i = 0; i < n_; ++i) {
      if (lines_[i].count != expected_) fail("a coroutine's counter does not show the expected turns");
    }
  }

  double rounds(std::size_t k) {
    expected_ += k;
    return timed([&] { ring_.rounds(k); });
  }

  void start() {
    for (std::size_t i = 0; i < n_; ++i) ring_.create(i, lines_[i]);
    check();
    rounds(1);
    check();
  }

  void finish() {
    check();
    for (std::size_t i = 0; i < n_; ++i) lines_[i].stop = true;
    ring_.finish();
    for (std::size_t i = 0; i < n_; ++i) ring_.drop(i);
  }

  const char* system_;
  std::size_t n_;
  double budget_;
  slots<line> lines_;
  Ring ring_;
  std::uint64_t expected_ = 0;
};

// A pool of the page `switch` as a set of this kind: its owner resumes one coroutine after the other.
template <class Pool>
class by_owner {
 public:
  by_owner(std::size_t n, std::size_t stack) : n_{n}, pool_{n, stack} {}

  void create(std::size_t i, line& mine) { pool_.create(i, mine); }
  void rounds(std::size_t k) {
    for (; k; --k) {
      for (std::size_t i = 0; i < n_; ++i) pool_.resume(i);
    }
  }
  void finish() {
    for (std::size_t i = 0; i < n_; ++i) pool_.finish(i);
  }
  void drop(std::size_t i) { pool_.drop(i); }

 private:
  std::size_t n_;
  Pool pool_;
};

template <class Ring>
int run_managed(const char* system, const request& r) {
  if (r.workload == "switches") return managed_page<Ring>{system, r}.switches();
  if (r.workload == "memory") return managed_page<Ring>{system, r}.memory();
  fail("this subject does not know that workload");
}

}  // namespace lab
