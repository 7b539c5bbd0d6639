#include <hocket/base/result.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

struct immovable {
  explicit immovable(int n) noexcept : number(n) {}
  immovable(immovable&&) = delete;
  int number;
};

struct throws_on_copy {
  throws_on_copy() = default;
  throws_on_copy(const throws_on_copy&) { throw 7; }
  throws_on_copy(throws_on_copy&&) noexcept {}
  throws_on_copy& operator=(const throws_on_copy&) = default;
  throws_on_copy& operator=(throws_on_copy&&) noexcept = default;
};

static_assert(std::is_trivially_copyable_v<result<int>>);
static_assert(std::is_trivially_destructible_v<result<int>>);
static_assert(std::is_trivially_copyable_v<result<void>>);
static_assert(std::is_trivially_copyable_v<result<int&>>);
static_assert(!std::is_trivially_copyable_v<result<std::string>>);
static_assert(!std::is_copy_constructible_v<result<std::unique_ptr<int>>>);
static_assert(std::is_nothrow_move_constructible_v<result<std::unique_ptr<int>>>);
static_assert(!std::is_default_constructible_v<result<int&>>);
static_assert(!std::is_constructible_v<result<const std::string&>, std::string>, "no reference to a temporary");
static_assert(!std::is_convertible_v<result<int>, bool>);
static_assert(std::is_convertible_v<int, result<long>>);
static_assert(!std::is_convertible_v<std::error_code, result<int>>, "an error code says failure{} to be one");

constexpr result<int> seven{7};
static_assert(*seven == 7 && seven.value_or(1) == 7 && seven.has_value());
static_assert(*result<int>{3}.transform([](int n) { return n * 2; }) == 6);
static_assert(seven == 7 && seven == result<int>{7});

result<int> half(int n) {
  if (n % 2 != 0) return failure{std::errc::invalid_argument};
  return n / 2;
}

}  // namespace

TEST_CASE("a result holds a value or an error code") {
  result<std::string> name{"hocket"};
  CHECK(name.has_value());
  CHECK(*name == "hocket");
  CHECK(name->size() == 6);
  CHECK(name.error_or(std::make_error_code(std::errc::timed_out)) == std::errc::timed_out);

  result<std::string> none = failure{std::errc::timed_out};
  CHECK_FALSE(none);
  CHECK(none.error() == std::errc::timed_out);
  CHECK(none.value_or("else") == "else");
  CHECK(none == failure{std::errc::timed_out});

  result<std::string> implicit = std::errc::timed_out;
  CHECK(implicit == none);
}

TEST_CASE("a result of void says only whether") {
  result<void> good;
  CHECK(good);
  *good;
  good.value();
  result<void> bad = std::errc::io_error;
  CHECK_FALSE(bad);
  CHECK(bad != good);
  bad = result<void>{};
  CHECK(bad == good);
}

TEST_CASE("a result of a reference refers") {
  int n = 1;
  result<int&> r = n;
  *r = 2;
  CHECK(n == 2);
  CHECK(&r.value() == &n);
  int m = 5;
  r = m;  // rebinds, assigns nothing
  CHECK(n == 2);
  CHECK(&*r == &m);
  const result<int&> fixed = n;
  *fixed = 9;
  CHECK(n == 9);
}

TEST_CASE("a result moves what can only be moved") {
  result<std::unique_ptr<int>> r = std::make_unique<int>(4);
  std::unique_ptr<int> p = *std::move(r);
  CHECK(*p == 4);
  result<std::unique_ptr<int>> other = failure{std::errc::timed_out};
  other = std::move(p);
  CHECK(**other == 4);
  r = std::move(other);
  CHECK(*r.value() == 4);
  swap(r, other);
  CHECK(**other == 4);
}

TEST_CASE("assignment goes from each side to each side") {
  result<std::string> value = "a", error = failure{std::errc::io_error};
  result<std::string> r = value;
  r = error;
  CHECK(r.error() == std::errc::io_error);
  r = error;
  r = value;
  CHECK(*r == "a");
  r = std::string{"b"};
  CHECK(*r == "b");
  r = failure{std::errc::timed_out};
  CHECK(r.error() == std::errc::timed_out);
  CHECK(r.emplace("c") == "c");
  CHECK(*r == "c");
}

TEST_CASE("an assignment that throws leaves the error as it was") {
  result<throws_on_copy> r = failure{std::errc::io_error};
  throws_on_copy source;
  CHECK_THROWS_AS((r = source), int);
  CHECK(r.error() == std::errc::io_error);
}

TEST_CASE("value() of a failure throws system_error, or cancelled") {
  result<int> failed = std::errc::timed_out;
  CHECK_THROWS_AS(static_cast<void>(failed.value()), std::system_error);
  result<int> stopped = std::errc::operation_canceled;
  CHECK_THROWS_AS(static_cast<void>(stopped.value()), cancelled);
  static_assert(!std::is_base_of_v<std::exception, cancelled>);
}

TEST_CASE("and_then, transform, or_else, transform_error chain") {
  CHECK(half(8).and_then(half).transform([](int n) { return std::to_string(n); }) == std::string{"2"});
  CHECK(half(6).and_then(half).error() == std::errc::invalid_argument);
  CHECK(half(3).or_else([](std::error_code) { return result<int>{0}; }) == 0);
  auto renamed = half(3).transform_error([](std::error_code) { return std::make_error_code(std::errc::io_error); });
  CHECK(renamed.error() == std::errc::io_error);

  int seen = 0;
  result<void> told = half(4).transform([&](int n) { seen = n; });
  CHECK(told);
  CHECK(seen == 2);
  CHECK(told.transform([] { return 5; }) == 5);
  CHECK(told.and_then([] { return result<int>{6}; }) == 6);

  int target = 0;
  result<int&> bound = result<void>{}.transform([&]() -> int& { return target; });
  CHECK(&*bound == &target);
  CHECK(half(4).transform([](int n) { return immovable{n}; })->number == 2);
}

TEST_CASE("a result converts where its value does") {
  result<int> narrow = 3;
  result<long> wide = narrow;
  CHECK(*wide == 3);
  result<long> failed = result<int>{std::errc::io_error};
  CHECK(failed.error() == std::errc::io_error);
  result<immovable> made{std::in_place, 8};
  CHECK(made->number == 8);
  result<std::errc> code = std::errc::io_error;
  CHECK(code.has_value());
}

TEST_CASE("the wrong side of a result is a programming error") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        result<int> r = std::errc::io_error;
        return *r;
      },
      "test the result first");
  expect_fatal(
      [] {
        result<void> r = std::errc::io_error;
        *r;
      },
      "test the result first");
  expect_fatal(
      [] {
        result<int> r = 1;
        return r.error().value();
      },
      "ask has_value() first");
  expect_fatal(
      [] {
        failure f{std::error_code{}};
        return f.error().value();
      },
      "an error code that is not 0");
}
