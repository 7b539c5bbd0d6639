// The memory_source of this program: it knows each block that is allocated and not released, as a collector does.
//
// It is set before main(). A release with other numbers than the allocation ends the program.
#pragma once
#include "support/roots.hpp"

#include <cstddef>
#include <doctest/doctest.h>

namespace hocket_test::blocks {

// How many blocks there are, and how many of them hold the address.
std::size_t count();
std::size_t holding(const hidden& what);

// Of one size or more.
std::size_t larger_than(std::size_t bytes);

// Fails the nth allocation of the calling thread from here (1: the next one), and the next ones: `how_many` in all.
class failing {
 public:
  explicit failing(std::size_t nth, std::size_t how_many = 1) noexcept;
  ~failing();
  failing(const failing&) = delete;
  failing& operator=(const failing&) = delete;
  bool has_failed() const noexcept;
};

// Checks at its end that as many blocks are left as there were.
class none_left {
 public:
  none_left() : before_(count()) {}
  none_left(const none_left&) = delete;
  none_left& operator=(const none_left&) = delete;
  ~none_left() { CHECK(count() == before_); }

 private:
  const std::size_t before_;
};

// Calls act() without memory for its first allocation, its second and so on, until it needs no further one. Each
// act() tells by false that memory has failed it, and leaves no block. Returns how many allocations it needs.
template <class Act>
std::size_t fail_each(Act&& act) {
  for (std::size_t nth = 1;; ++nth) {
    const none_left check;
    const failing memory(nth);
    const bool done = act();
    CHECK(done == !memory.has_failed());
    if (!memory.has_failed()) return nth - 1;
  }
}

}  // namespace hocket_test::blocks
