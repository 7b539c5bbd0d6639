#pragma once
// Two figures of n coroutines: the life of one, and its round trip. A pool of coroutines is what harness.hpp says.
#include "effects.hpp"

namespace lab {

template <class Pool>
class owned_page {
 public:
  explicit owned_page(const request& r) : n_{r.n}, budget_{r.budget_ns}, lines_{r.n}, pool_{r.n, r.stack} {
    life();  // the stacks are warm after that
  }

  // Nanoseconds for one: create, enter for the first and for the last time, destroy.
  double lives() {
    return median_of_calls(budget_, [&] { return life() / static_cast<double>(n_); });
  }

  double round_trips() {
    create();
    double ns = median_of_rounds(budget_, [&](std::size_t k) { return rounds(k); });
    end();
    return ns / static_cast<double>(n_);
  }

 private:
  double rounds(std::size_t k) {
    expected_ += k;
    return timed([&] {
      for (; k; --k) {
        for (std::size_t i = 0; i < n_; ++i) pool_.resume(i);
      }
    });
  }
  void create() {
    expected_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      lines_[i] = line{0, false};
      pool_.create(i, lines_[i]);
    }
  }
  void end() {
    for (std::size_t i = 0; i < n_; ++i) {
      if (lines_[i].count != expected_) fail("a coroutine's counter does not show the expected round trips");
      lines_[i].stop = true;
      pool_.finish(i);
      pool_.drop(i);
    }
  }
  double life() {
    return timed([&] {
      create();
      expected_ = 1;
      for (std::size_t i = 0; i < n_; ++i) pool_.resume(i);
      end();
    });
  }

  std::size_t n_;
  double budget_;
  slots<line> lines_;
  Pool pool_;
  std::uint64_t expected_ = 0;
};

}  // namespace lab
