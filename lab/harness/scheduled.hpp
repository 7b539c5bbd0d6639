#pragma once
// The page `switch` for systems with a scheduler, which enters the coroutines one after the other when they yield. The
// phases are the phases of harness.hpp, but there is no owner outside that resumes: coroutine number 0 measures the
// time during the round trips, as in ../go/main.go, and the time of a repetition is divided by the activations that all
// lines show.
//
// An activation is a yield: out to the scheduler and into the next coroutine, which is one resume and one yield, too.
//
// Every coroutine counts its activations in its own line, until the line shows the limit, which is one variable for
// all. A coroutine ends by itself, so there is no phase between finish and destroy: `destroy` is the time from the
// signal to stop to the end of the last coroutine, with the last activation and the drop of the handles. It is measured
// only in the warm cycles: after the round trips the coroutines reach the limit, and so their end, in the last rounds.
//
// The body of a coroutine, where YIELD is the call of its system:
//
//   ++mine.count;
//   YIELD;                                            // the first activation ends
//   if (first)
//     while (std::size_t k = turns.next())            // number 0 keeps the time
//       for (; k; --k) { ++mine.count; YIELD; }
//   while (mine.count < turns.limit) { ++mine.count; YIELD; }
//
// The workloads of the page `managed` (managed.hpp) are here, too.
#include <limits>
#include <optional>

#include "managed.hpp"

namespace lab {

// The shared state of the coroutines of one program.
class turns {
 public:
  turns(slots<line>& lines, std::size_t n, double budget_ns) : lines_{lines}, n_{n}, budget_{budget_ns} {}

  // From its next activation on, number 0 measures.
  void begin() {
    limit = std::numeric_limits<std::uint64_t>::max();
    measuring_ = true;
    begin_ = now_ns();
  }

  // For number 0: ends one repetition and begins the next. Returns its number of activations in the next repetition; 0
  // if it must not measure, or if it has measured enough and has set the limit.
  std::size_t next() {
    if (!measuring_) return 0;
    double took = now_ns() - begin_;
    if (repetitions_ == 0) calibrate(took);
    else values_.push_back(took / static_cast<double>(activations() - before_));
    if (repetitions_ != 0 && values_.size() == repetitions_) return end();
    before_ = activations();
    begin_ = now_ns();
    return k_;
  }

  double result() const { return median(values_); }

  std::uint64_t limit = 1;

 private:
  void calibrate(double took) {
    if (++calls_ <= 3) return;  // two repetitions of one activation, to begin with
    if (took < budget_ / 16) k_ *= 2;
    else repetitions_ = took > budget_ / 3 ? 3 : 7;
  }

  std::size_t end() {
    measuring_ = false;
    limit = 0;
    for (std::size_t i = 0; i < n_; ++i) limit = std::max(limit, lines_[i].count);
    ++limit;
    return 0;
  }

  std::uint64_t activations() const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n_; ++i) total += lines_[i].count;
    return total;
  }

  slots<line>& lines_;
  std::size_t n_;
  double budget_;
  bool measuring_ = false;
  std::size_t k_ = 1;
  std::size_t calls_ = 0;
  std::size_t repetitions_ = 0;
  std::uint64_t before_ = 0;
  double begin_ = 0;
  std::vector<double> values_{};
};

// A scheduler under test provides
//   Scheduler(n, stack bytes)
//   inside(f)                  calls f where the system's coroutines are best created
//   create(i, turns&, line&)   creates coroutine i, which does not run yet
//   round(n)                   enters each of the n coroutines once, from outside
//   run()                      runs them until all have ended
//   drop(i)                    releases the objects of the ended coroutine i
template <class Scheduler>
class scheduled_page {
 public:
  scheduled_page(const char* system, const request& r)
      : system_{system},
        n_{r.n},
        budget_{r.budget_ns},
        lines_{r.n},
        turns_{lines_, r.n, r.budget_ns},
        scheduler_{r.n, r.stack} {}

  int run() {
    cold();
    turns_.begin();
    end();
    emit(system_, "round_trip", n_, "ns", turns_.result());
    warm();
    return 0;
  }

  int switches() {
    create();
    start();
    turns_.begin();
    end();
    emit_switches(system_, n_, turns_.result());
    return 0;
  }

  int memory() {
    create();
    start();
    let_read("live");
    turns_.limit = 1 + turns_before_peak + 1;
    for (std::uint64_t k = 0; k < turns_before_peak; ++k) scheduler_.round(n_);
    check(1 + turns_before_peak);
    let_read("peak");
    end();
    return 0;
  }

 private:
  void check(std::uint64_t expected) {
    for (std::size_t i = 0; i < n_; ++i) {
      if (lines_[i].count != expected) fail("a coroutine's counter does not show the expected activations");
    }
  }

  double create() {
    for (std::size_t i = 0; i < n_; ++i) lines_[i] = line{0, false};
    turns_.limit = 1;
    double ns = 0;
    scheduler_.inside([&] {
      ns = timed([&] {
        for (std::size_t i = 0; i < n_; ++i) scheduler_.create(i, turns_, lines_[i]);
      });
    });
    check(0);
    return ns / static_cast<double>(n_);
  }

  double start() {
    const double ns = timed([&] { scheduler_.round(n_); });
    check(1);
    return ns / static_cast<double>(n_);
  }

  double end() {
    double ns = timed([&] {
      scheduler_.run();
      for (std::size_t i = 0; i < n_; ++i) scheduler_.drop(i);
    });
    check(turns_.limit);
    return ns / static_cast<double>(n_);
  }

  void cold() {
    double before = resident_bytes();
    double ns = create();
    start();
    double grown = std::max(0.0, resident_bytes() - before);
    emit(system_, "create", n_, "ns", ns);
    emit(system_, "bytes", n_, "B", grown / static_cast<double>(n_));
  }

  void warm() {
    std::vector<double> creations, ends, lives;
    double until = now_ns() + budget_;
    while (creations.size() < 2 || (creations.size() < 999 && now_ns() < until)) {
      creations.push_back(create());
      const double turn = start();
      ends.push_back(end());
      lives.push_back(creations.back() + turn + ends.back());
    }
    emit(system_, "destroy", n_, "ns", median(std::move(ends)));
    emit(system_, "create_warm", n_, "ns", median(std::move(creations)));
    emit(system_, "lifetime", n_, "ns", median(std::move(lives)));
  }

  const char* system_;
  std::size_t n_;
  double budget_;
  slots<line> lines_;
  turns turns_;
  Scheduler scheduler_;
};

// Runs the workloads of the pages `switch` and `managed`; returns nothing for other workloads.
template <class Scheduler>
std::optional<int> run_scheduled(const char* system, const request& r) {
  if (r.workload == "switch") return scheduled_page<Scheduler>{system, r}.run();
  if (r.workload == "switches") return scheduled_page<Scheduler>{system, r}.switches();
  if (r.workload == "memory") return scheduled_page<Scheduler>{system, r}.memory();
  return {};
}

}  // namespace lab
