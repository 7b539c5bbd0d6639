#pragma once
// The page `manager`: its workloads, for all languages. A subject is called as
//
//   <program> [<system>] <workload> <n> <stack bytes> <budget ms>
//
// All runs on one thread. The caller is a coroutine, except where a system only needs a plain thread. A waiting
// coroutine waits for an event that never happens. An ended coroutine has left all tables, and its caller has its end.
//
//   manager_add     n coroutines wait. Others are spawned, 64 at a time, count, and end; time of one
//   manager_by_id   n coroutines wait. Time of one operation, by ids in an order that looks random:
//     manager_find       a coroutine is looked up
//     manager_deadline   it gets a deadline, between an hour and an hour and a half ahead; most have one already
//     manager_cancel     it is cancelled, and has ended; up to 1,000 at a time. Others take their places, untimed
//   manager_reply   n replies are expected, and do not arrive. Time of one more; its id is passed to its sender:
//     manager_reply_ready      it is expected, sent, and taken, all by one coroutine
//     manager_reply_handover   one coroutine expects it and waits; another one sends it, and yields
//   manager_expire  n live coroutines get a deadline each, and all deadlines pass: processor time of one. The deadlines
//                   are between a half and one microsecond times n ahead, in an order that looks random. The second
//                   time; the preparations are not timed
//   manager_expire_in_turn   the same; each deadline is later than the one before
//   manager_group   n coroutines of one group wait; all are cancelled at once, and have ended; time of one
#include <sys/resource.h>

#include "harness.hpp"

namespace lab {

constexpr std::size_t at_a_time = 64, cancelled_at_a_time = 1000;

// Exits at once: waking the sleeping coroutines would take too long.
[[noreturn]] inline void leave() {
  std::fflush(stdout);
  std::_Exit(0);
}

inline double processor_ns() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// A number between 0 and 2^20 that looks random: the same in every language.
constexpr std::uint64_t scattered(std::size_t i) { return (static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15) >> 44; }

inline std::chrono::nanoseconds spread(std::size_t i, std::chrono::nanoseconds range) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(scattered(i)) * range.count() >> 20);
}
inline std::chrono::nanoseconds far(std::size_t i) {
  return std::chrono::hours(1) + spread(i, std::chrono::minutes(30));
}
inline std::chrono::nanoseconds near(std::size_t i, std::size_t n, bool in_turn) {
  const std::chrono::nanoseconds half(n * 500);
  return half + (in_turn ? std::chrono::nanoseconds(i * 500) : spread(i, half));
}

// The places 0 to n - 1 in an order that looks random.
inline std::vector<std::size_t> shuffled(std::size_t n) {
  std::vector<std::size_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = i;
  std::uint64_t state = 42;
  for (std::size_t i = n; i > 1; --i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::swap(all[i - 1], all[(state >> 33) % i]);
  }
  return all;
}

// Repeats this order.
class places {
 public:
  explicit places(std::size_t n) : all_(shuffled(n)) {}
  std::size_t next() {
    if (at_ == all_.size()) at_ = 0;
    return all_[at_++];
  }

 private:
  std::vector<std::size_t> all_;
  std::size_t at_ = 0;
};

}  // namespace lab
