#include <hocket/core/spawn/seam/return_slot.hpp>

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>

using namespace hocket;

namespace {

struct counted {
  static inline int live = 0;
  explicit counted(int n) : number(n) { ++live; }
  counted(counted&& other) noexcept : number(other.number) { ++live; }
  ~counted() { --live; }
  int number;
};

struct fails_to_move {
  fails_to_move() = default;
  fails_to_move(fails_to_move&&) { throw std::runtime_error("cannot move"); }
};

std::exception_ptr an_error() { return std::make_exception_ptr(std::runtime_error("failed")); }

}  // namespace

TEST_CASE("a slot is empty until a value or an exception is put into it") {
  detail::return_slot<int> with_value, with_error;
  CHECK(with_value.empty());
  with_value.set_value(3);
  CHECK_FALSE(with_value.empty());
  CHECK_FALSE(with_value.failed());
  CHECK(with_value.take() == 3);
  with_error.set_exception(an_error());
  CHECK_FALSE(with_error.empty());
  CHECK(with_error.failed());
  CHECK_THROWS_WITH_AS(with_error.take(), "failed", std::runtime_error);
}

TEST_CASE("values are converted, moved out, and destroyed once") {
  counted::live = 0;
  {
    detail::return_slot<counted> slot;
    slot.set_value(7);
    CHECK(counted::live == 1);
    CHECK(slot.take().number == 7);
    CHECK(counted::live == 1);
  }
  CHECK(counted::live == 0);
  {
    detail::return_slot<counted> slot;
    slot.set_value(counted(8));
    slot.set_exception(an_error());
    CHECK(counted::live == 0);
    CHECK(slot.failed());
  }
  detail::return_slot<std::string> text;
  text.set_value("converted");
  CHECK(text.take() == "converted");
  detail::return_slot<std::unique_ptr<int>> only;
  only.set_value(std::make_unique<int>(1));
  CHECK(*only.take() == 1);
}

TEST_CASE("what a call returns is constructed in the slot, and is taken where it is") {
  struct immovable {
    explicit immovable(int n) : number(n) {}
    immovable(immovable&&) = delete;
    int number;
  };
  detail::return_slot<immovable> slot;
  slot.set_value_from([] { return immovable(4); });
  immovable&& there = slot.get();
  CHECK(there.number == 4);
  CHECK(&there == &static_cast<const immovable&>(slot.get()));

  detail::return_slot<int> broken;
  CHECK_THROWS_AS(broken.set_value_from([]() -> int { throw std::runtime_error("failed"); }), std::runtime_error);
  CHECK(broken.empty());
  broken.set_exception(an_error());
  CHECK_THROWS_WITH_AS(broken.get(), "failed", std::runtime_error);

  int apart = 5;
  detail::return_slot<int&> lvalue;
  lvalue.set_value_from([&]() -> int& { return apart; });
  CHECK(&lvalue.get() == &apart);
  detail::return_slot<int&&> rvalue;
  rvalue.set_value_from([&]() -> int&& { return std::move(apart); });
  CHECK(&static_cast<const int&>(rvalue.get()) == &apart);
}

TEST_CASE("a reference stays the same object") {
  int there = 5;
  detail::return_slot<int&> slot;
  slot.set_value(there);
  CHECK(&slot.take() == &there);
  detail::return_slot<int&&> rvalue;
  rvalue.set_value(std::move(there));
  CHECK(&static_cast<const int&>(rvalue.take()) == &there);
}

TEST_CASE("a slot for nothing is done or failed") {
  detail::return_slot<void> done, broken;
  CHECK(done.empty());
  done.set_value();
  CHECK_FALSE(done.empty());
  CHECK_NOTHROW(done.take());
  broken.set_exception(an_error());
  CHECK(broken.failed());
  CHECK_THROWS_AS(broken.take(), std::runtime_error);
}

TEST_CASE("a value whose construction throws leaves the slot as it was") {
  detail::return_slot<fails_to_move> slot;
  CHECK_THROWS_AS(slot.set_value(fails_to_move{}), std::runtime_error);
  CHECK(slot.empty());
  slot.set_exception(an_error());
  CHECK(slot.failed());
}
