#pragma once
// The shared code of all C++ subjects of the page `switch`: the arguments, the clock, the phases, the JSON lines.
//
// A subject is called as `<program> <workload> <n> <stack bytes> <budget ms>`. The budget bounds each measured phase,
// not the process. It prints one JSON line per result, or a line with the member "skip" when a limit of the machine
// forbids the size.
//
// Words. An *activation* enters one suspended coroutine and returns when it has suspended again: one resume plus
// one yield, so two switches. Each activation adds one to a counter in a cache line that belongs to the coroutine
// alone, and at the end every counter must show the requested number of activations.
//
// The workload `switch` runs these phases in one process:
//   1. create        the first n coroutines of the process are constructed; none has run any of its body
//   2. (start)       the first activation of each, not timed
//   3. bytes         anonymous resident memory that 1 and 2 added, per coroutine
//   4. round_trip    activations of all n in turn; as many rounds as fit into the budget, in several repetitions
//   5. (finish)      the last activation of each, not timed: the body ends
//   6. destroy       the finished coroutines are destroyed
//   7. create_warm   1, 2, 5 and 6 again and again; the system's documented pool is warm
// Results of 4, 6 and 7 are medians over the repetitions. Creation and removal are so timed apart from the first and
// the last activation as in the program of document 002.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace lab {

struct request {
  std::string_view workload;
  std::size_t n = 1;
  std::size_t stack = 65536;
  double budget_ns = 20e6;
};

[[noreturn]] inline void fail(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

inline request parse(int argc, char** argv) {
  if (argc != 5) fail("usage: subject <workload> <n> <stack bytes> <budget ms>");
  request r;
  r.workload = argv[1];
  r.n = std::strtoull(argv[2], nullptr, 10);
  r.stack = std::strtoull(argv[3], nullptr, 10);
  r.budget_ns = std::strtod(argv[4], nullptr) * 1e6;
  if (r.n == 0 || r.stack < 4096 || !(r.budget_ns > 0)) fail("n, stack bytes and budget must be positive");
  return r;
}

inline void emit(const char* system, const char* workload, std::size_t n, const char* unit, double value) {
  std::printf("{\"system\":\"%s\",\"workload\":\"%s\",\"n\":%zu,\"unit\":\"%s\",\"value\":%.3f}\n", system, workload, n,
              unit, value);
}

inline int skip(const char* system, const request& r, const char* reason) {
  std::printf("{\"system\":\"%s\",\"workload\":\"%.*s\",\"n\":%zu,\"skip\":\"%s\"}\n", system,
              static_cast<int>(r.workload.size()), r.workload.data(), r.n, reason);
  return 0;
}

inline double now_ns() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Reading the clock costs as much as creating one coroutine, so the time of the next reading is subtracted.
template <class F>
double timed(F&& f) {
  double begin = now_ns();
  f();
  double end = now_ns();
  double reading = now_ns() - end;
  return std::max(0.0, end - begin - reading);
}

// `rounds(k)` does k rounds and returns their nanoseconds. Returns the median time of one round over several
// repetitions; each repetition has as many rounds as take a sixteenth of the budget or more.
template <class F>
double median_of_rounds(double budget_ns, F&& rounds) {
  std::size_t k = 1;
  rounds(1);
  double took = rounds(1);
  while (took < budget_ns / 16) took = rounds(k *= 2);
  int repetitions = took > budget_ns / 3 ? 3 : 7;
  std::vector<double> values;
  for (int i = 0; i < repetitions; ++i) values.push_back(rounds(k) / static_cast<double>(k));
  return median(std::move(values));
}

// Exact, and without the pages of program files. VmRSS is not exact: its per-CPU counters may lag by megabytes.
inline double resident_bytes() {
  std::FILE* f = std::fopen("/proc/self/smaps_rollup", "r");
  if (!f) fail("cannot read /proc/self/smaps_rollup");
  char text[256];
  unsigned long long kib = 0;
  while (std::fgets(text, sizeof text, f)) {
    if (std::sscanf(text, "Anonymous: %llu", &kib) == 1) break;
  }
  std::fclose(f);
  return static_cast<double>(kib) * 1024;
}

struct alignas(64) line {
  std::uint64_t count;
  bool stop;
};

// Raw memory for n objects of a type that need not be default-constructible. Its pages are touched at the start, so a
// first creation does not pay for the lab's own bookkeeping.
template <class T>
class slots {
 public:
  explicit slots(std::size_t n) : bytes_{n * sizeof(T)} {
    void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) fail("no memory for the lab's own array");
    data_ = static_cast<T*>(p);
  }
  slots(const slots&) = delete;
  slots& operator=(const slots&) = delete;
  ~slots() { munmap(data_, bytes_); }

  T& operator[](std::size_t i) noexcept { return data_[i]; }

  // The callable returns the T; it is built in place, so T need not be movable.
  template <class Make>
  void put(std::size_t i, Make&& make) {
    ::new (static_cast<void*>(data_ + i)) T(std::forward<Make>(make)());
  }
  void drop(std::size_t i) { data_[i].~T(); }

 private:
  std::size_t bytes_;
  T* data_;
};

// A pool of coroutines under test provides
//   Pool(n, stack bytes)
//   create(i, line&)   constructs a coroutine, which does not run yet
//   resume(i)          one activation, be it the first
//   finish(i)          the last activation: the line says stop, and the coroutine runs to its end
//   drop(i)            destroys the finished coroutine
template <class Pool>
class switch_page {
 public:
  switch_page(const char* system, const request& r)
      : system_{system}, n_{r.n}, budget_{r.budget_ns}, lines_{r.n}, pool_{r.n, r.stack} {}

  int run() {
    cold();
    rounds();
    finish();
    destroy_.push_back(destroy());
    warm();
    emit(system_, "destroy", n_, "ns", median(destroy_));
    emit(system_, "create_warm", n_, "ns", median(warm_));
    emit(system_, "lifetime", n_, "ns", median(lives_));
    return 0;
  }

 private:
  template <class F>
  double timed_each(F&& f) {
    return timed([&] {
             for (std::size_t i = 0; i < n_; ++i) f(i);
           }) /
           static_cast<double>(n_);
  }

  void check() {
    for (std::size_t i = 0; i < n_; ++i) {
      if (lines_[i].count != expected_) fail("a coroutine's counter does not show the expected activations");
    }
  }

  double create() {
    for (std::size_t i = 0; i < n_; ++i) lines_[i] = line{0, false};
    expected_ = 0;
    double ns = timed_each([&](std::size_t i) { pool_.create(i, lines_[i]); });
    check();
    return ns;
  }

  double start() { return round_trips(1) / static_cast<double>(n_); }

  double finish() {
    check();
    for (std::size_t i = 0; i < n_; ++i) lines_[i].stop = true;
    return timed_each([&](std::size_t i) { pool_.finish(i); });
  }

  double destroy() {
    return timed_each([&](std::size_t i) { pool_.drop(i); });
  }

  double round_trips(std::size_t rounds) {
    expected_ += rounds;
    return timed([&] {
      for (std::size_t r = 0; r < rounds; ++r) {
        for (std::size_t i = 0; i < n_; ++i) pool_.resume(i);
      }
    });
  }

  void cold() {
    double before = resident_bytes();
    double ns = create();
    start();
    double grown = std::max(0.0, resident_bytes() - before);
    emit(system_, "create", n_, "ns", ns);
    emit(system_, "bytes", n_, "B", grown / static_cast<double>(n_));
  }

  void rounds() {
    double ns = median_of_rounds(budget_, [&](std::size_t k) { return round_trips(k); });
    emit(system_, "round_trip", n_, "ns", ns / static_cast<double>(n_));
  }

  void warm() {
    double end = now_ns() + budget_;
    while (warm_.size() < 2 || (warm_.size() < 999 && now_ns() < end)) {
      warm_.push_back(create());
      const double turns = start() + finish();
      destroy_.push_back(destroy());
      lives_.push_back(warm_.back() + turns + destroy_.back());
    }
  }

  const char* system_;
  std::size_t n_;
  double budget_;
  slots<line> lines_;
  Pool pool_;
  std::uint64_t expected_ = 0;
  std::vector<double> destroy_{};
  std::vector<double> warm_{};
  std::vector<double> lives_{};  // creation, two activations, destruction
};

template <class Pool>
int run_switch(const char* system, const request& r) {
  if (r.workload != "switch") fail("this subject knows the workload switch only");
  return switch_page<Pool>{system, r}.run();
}

// The workloads `task` and `generator`: `batch(k)` does k units of work and returns whether its result is right.
template <class Batch>
int run_batches(const char* system, const request& r, Batch&& batch) {
  auto measure = [&](std::size_t k) {
    bool right = false;
    double ns = timed([&] { right = batch(k); });
    if (!right) fail("a batch returned a wrong result");
    return ns;
  };
  std::size_t k = 64;
  for (double took = measure(k); took < r.budget_ns / 16; took = measure(k)) k *= 2;
  std::vector<double> values;
  for (double used = 0; values.size() < 9 && used < 8 * r.budget_ns;) {  // 8: later batches may take longer
    const double took = measure(k);
    used += took;
    values.push_back(took / static_cast<double>(k));
  }
  char name[32];
  std::snprintf(name, sizeof name, "%.*s", static_cast<int>(r.workload.size()), r.workload.data());
  emit(system, name, r.n, "ns", median(std::move(values)));
  return 0;
}

}  // namespace lab
