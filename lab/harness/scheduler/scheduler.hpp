#pragma once
// The page `scheduler`: its workloads, for all languages. A subject is called as
//
//   <program> [<system>] <workload> <workers> <stack bytes> <budget ms> <count>
//
//   yields             `count` coroutines, always ready, yield in turn; time of one yield
//   spawn_join         a coroutine spawns another, which only counts, and awaits it, repeatedly; time of one pair
//   post_outside       a plain thread posts `count` jobs to the workers, one by one, and waits until all have run; time
//                      of a job
//   post_outside_batch the same; the system chooses how many jobs it posts at a time
//   ping_pong          two coroutines of the runtime pass a token to each other, `count` times; time of one direction
//   when_all_10000     `count` coroutines that end at once: create, await all, destroy; time of each
//   fib                fib(count) without a cut-off, each call forks one branch and does the other; time of a call
//   skynet             a tree of nodes with ten children each, and `count` leaves with numbers, which are summed up;
//                      time of all
//   nqueens            the solutions for `count` queens, a child for each square that is not attacked; time of all
//   flat_loop          a parallel loop with a store of one word as its body; time of one of `count` iterations
//   timer_cancel       a distant timer is set and cancelled, by as many coroutines as workers; time of one
//   timer_cancel_1e6  the same beside `count` live timers
//   timer_expire       `count` coroutines are spawned, sleep for a time and end; processor time of each. They sleep for
//                      one to two microseconds times `count`, so that most of them sleep at the same time. The second
//                      time
//   wake               a plain thread posts a job to a sleeping runtime, `count` times, once in a millisecond; time
//                      until the job runs
//   spread             a coroutine spawns `count` others, which compute for 1 ms each, and itself computes for 20 ms
//                      more; time until the last one has ended
//   beside_stuck       `count` coroutines repeatedly sleep 1 ms, beside a coroutine that sleeps 5 ms and then computes
//                      for 300 ms; the delay of their wake-ups
//   idle               processor time of an idle runtime, in hundredths of the elapsed time, in `count` milliseconds
//   sleeping           memory (with page tables) of each of n coroutines that sleep for hours
//
// A time per operation is wall time, of all workers together. A workload's result is checked: numbers are summed up,
// jobs are counted.
#include <sys/resource.h>

#include <atomic>
#include <semaphore>
#include <thread>

#include "harness.hpp"

namespace lab {

struct load : request {
  std::size_t workers = 1;
  std::size_t count = 1;

  void emit_of(const char* system, const char* metric, const char* unit, double value) const {
    emit(system, metric, n, unit, value);
  }
};

struct named_load {
  std::string_view workload;
  void (*run)(const char* system, const load&);
};

// Exits at once: waking the sleeping coroutines would take too long.
[[noreturn]] inline void leave() {
  std::fflush(stdout);
  std::_Exit(0);
}

inline load parse_load(int argc, char** argv) {
  if (argc != 6) fail("usage: subject <workload> <workers> <stack bytes> <budget ms> <count>");
  load r{parse(argc - 1, argv)};
  r.workers = r.n;
  r.count = std::strtoull(argv[5], nullptr, 10);
  if (r.count == 0) fail("the count must be positive");
  return r;
}

template <std::size_t N>
int run_load(const char* system, int argc, char** argv, const named_load (&known)[N]) {
  const load r = parse_load(argc, argv);
  for (const named_load& one : known) {
    if (one.workload != r.workload) continue;
    one.run(system, r);
    return 0;
  }
  fail("this subject does not know that workload");
}

// The median time of a long round: the first round is not counted, unless it has used up ten budgets.
template <class Round>
double median_of_some(double budget_ns, Round&& round) {
  const double first = round();
  if (first > 10 * budget_ns) return first;
  std::vector<double> values;
  double used = 0;
  while (values.empty() || (used < budget_ns && values.size() < 7)) {
    values.push_back(round());
    used += values.back();
  }
  return median(std::move(values));
}

// A period with several participants: it begins when all have arrived, and ends when all have left.
class gate {
 public:
  void close(std::size_t count) {
    arriving_ = count;
    staying_ = count;
    open_ = false;
  }
  void arrive() {
    if (arriving_.fetch_sub(1) != 1) return;
    begin_ = now_ns();
    open_.store(true, std::memory_order_release);
  }
  bool is_open() const { return open_.load(std::memory_order_acquire); }
  void leave() {
    if (staying_.fetch_sub(1) != 1) return;
    end_ = now_ns();
    over_.release();
  }
  double wait() {
    over_.acquire();
    return end_ - begin_;
  }

 private:
  std::atomic<std::size_t> arriving_{0}, staying_{0};
  std::atomic<bool> open_{false};
  double begin_ = 0, end_ = 0;
  std::binary_semaphore over_{0};
};

// The jobs for which a plain thread waits.
class countdown {
 public:
  void begin(std::size_t count) { left_.store(count); }
  void done() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) over_.release();
  }
  void wait() { over_.acquire(); }

 private:
  std::atomic<std::size_t> left_{0};
  std::binary_semaphore over_{0};
};

// `post(countdown&, count)` posts `count` jobs; each must call done().
template <class Post>
void post_all_outside(const char* system, const char* workload, const load& r, Post&& post) {
  static countdown jobs;  // its last job may still be in release() when wait() has returned
  const double ns = median_of_some(r.budget_ns, [&] {
    return timed([&] {
      jobs.begin(r.count);
      post(jobs, r.count);
      jobs.wait();
    });
  });
  r.emit_of(system, workload, "ns", ns / static_cast<double>(r.count));
}

// `post(countdown&)` posts one job.
template <class Post>
void post_outside(const char* system, const load& r, Post&& post) {
  post_all_outside(system, "post_outside", r, [&](countdown& jobs, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) post(jobs);
  });
}

inline void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

// `post(double& ran)` posts a job, which must store now_ns().
template <class Post>
void wake(const char* system, const load& r, Post&& post) {
  std::vector<double> ran(r.count + 8), took;
  for (std::size_t i = 0; i < ran.size(); ++i) {
    sleep_ms(1);
    const double begin = now_ns();
    post(ran[i]);
    double end = 0;
    while (end == 0) {
      sleep_ms(1);
      end = std::atomic_ref(ran[i]).load();
    }
    if (i >= 8) took.push_back(end - begin);
  }
  std::sort(took.begin(), took.end());
  r.emit_of(system, "wake_median", "ns", took[took.size() / 2]);
  r.emit_of(system, "wake_p99", "ns", took[took.size() * 99 / 100]);
}
inline void compute_ms(double ms) {
  for (const double end = now_ns() + ms * 1e6; now_ns() < end;) {
  }
}

// How late sleeping coroutines woke beside a computing one. Each coroutine appends to its own row.
inline constexpr double nap_ms = 1, nap_before_ms = 5, stuck_ms = 300;
class late_naps {
 public:
  explicit late_naps(std::size_t count) : of_(count) {}
  void note(std::size_t who, double begin) { of_[who].push_back(now_ns() - begin - nap_ms * 1e6); }
  void emit(const char* system, const load& r) const {
    std::vector<double> all;
    for (const auto& one : of_) all.insert(all.end(), one.begin(), one.end());
    std::sort(all.begin(), all.end());
    r.emit_of(system, "beside_stuck_median", "ms", all[all.size() / 2] / 1e6);
    r.emit_of(system, "beside_stuck_longest", "ms", all.back() / 1e6);
  }
  std::atomic<bool> over{false};

 private:
  std::vector<std::vector<double>> of_;
};

inline void note_now(double& ran) { std::atomic_ref(ran).store(now_ns()); }

inline double processor_ns() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// The processor time of a round that was run once before, so that its memory exists already.
template <class Round>
double second_time(Round&& round) {
  round();
  const double before = processor_ns();
  round();
  return processor_ns() - before;
}

inline void idle(const char* system, const load& r) {
  sleep_ms(100);
  const double wall = now_ns(), before = processor_ns();
  sleep_ms(static_cast<double>(r.count));
  r.emit_of(system, "idle", "%", 100 * (processor_ns() - before) / (now_ns() - wall));
}

inline double held_bytes() {
  std::FILE* f = std::fopen("/proc/self/status", "r");
  if (!f) fail("cannot read /proc/self/status");
  char text[256];
  unsigned long long kib = 0;
  while (std::fgets(text, sizeof text, f)) {
    if (std::sscanf(text, "VmPTE: %llu", &kib) == 1) break;
  }
  std::fclose(f);
  return resident_bytes() + static_cast<double>(kib) * 1024;
}

// Waits until nothing has changed for a while.
inline double settled_bytes() {
  double now = held_bytes();
  for (int same = 0; same < 5; ++same) {
    sleep_ms(100);
    const double before = std::exchange(now, held_bytes());
    if (before < 0.999 * now || before > 1.001 * now) same = 0;
  }
  return now;
}

// Times are spread over a range, in an order that looks random: the same in every language.
inline std::chrono::nanoseconds spread(std::size_t i, std::chrono::nanoseconds range) {
  const std::uint64_t scattered = (static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15) >> 44;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(scattered) * range.count() >> 20);
}
inline std::chrono::nanoseconds far(std::size_t i) {
  return std::chrono::hours(1) + spread(i, std::chrono::minutes(30));
}
inline std::chrono::nanoseconds near(std::size_t i, std::size_t count) {
  const std::chrono::microseconds each(count);
  return each + spread(i, each);
}

}  // namespace lab
