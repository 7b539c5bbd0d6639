#pragma once
// n coroutines of hocket that repeatedly wait for one value: document 004's channel, a value that wakes all its waiters
// and can be reset.
//
// There are two completions. All n wait at one of them. The owner resets the other one, which all have left, and
// completes the first. Each coroutine takes the value, and waits at the other completion. So a unit is one
// resume and one wait, and an n-th of a reset and of a completion. The first waiter is woken first, so the order
// must be made random once: each coroutine gets its first value through a completion of its own.
#include <array>

#include "crowd.hpp"

namespace lab {

// One waiter: its counts, and the completion for its next wait.
template <class T, class Strength>
class alignas(64) listener {
 public:
  using value_type = T;
  using gate = completion_gate<T, Strength>;

  explicit listener(std::array<gate, 2>& of) : gates_{&of} {}

  gate& first() { return first_; }
  auto wait() {
    if (waits_++ == 0) return first_.wait();
    return (*gates_)[waits_ % 2].wait();
  }
  void take(const T& v) {
    sum_ += value<T>::number(v);
    ++taken_;
  }
  std::uint32_t taken() const { return taken_; }
  std::uint64_t sum() const { return sum_; }

 private:
  std::array<gate, 2>* gates_;
  gate first_;
  std::uint32_t waits_ = 0, taken_ = 0;
  std::uint64_t sum_ = 0;
};

template <class T, class Strength>
class audience {
 public:
  using place = listener<T, Strength>;

  audience(std::size_t n, std::size_t) : places_{n}, n_{n} { make(); }
  audience(const audience&) = delete;
  audience& operator=(const audience&) = delete;
  ~audience() { drop(); }

  place& operator[](std::size_t i) { return places_[i]; }
  static std::uint64_t number_for(std::size_t) { return 1; }
  void give(const std::vector<std::uint32_t>& order) {
    if (given_++ == 0) {
      for (std::uint32_t i : order) places_[i].first().give(made());
      return;
    }
    gates_[(given_ - 1) % 2].reset();
    gates_[given_ % 2].give(made());
  }
  void renew() {}
  void close() {
    for (std::size_t i = 0; given_ == 0 && i < n_; ++i) places_[i].first().close();
    gates_[(given_ + 1) % 2].close();
  }
  void remake() {
    drop();
    make();
  }

 private:
  static T made() { return value<T>::made(number_for(0)); }
  void make() {
    given_ = 0;
    for (auto& gate : gates_) gate.reset();
    for (std::size_t i = 0; i < n_; ++i) places_.put(i, [this] { return place{gates_}; });
  }
  void drop() {
    for (std::size_t i = 0; i < n_; ++i) places_.drop(i);
  }

  std::array<completion_gate<T, Strength>, 2> gates_;
  std::uint32_t given_ = 0;
  slots<place> places_;
  std::size_t n_;
};

}  // namespace lab
