// What spawn stores of arguments that its callable converts: it is there until the coroutine has ended.
#include <hocket/core/spawn_batch.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "suites/converted_arguments.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <memory>

using namespace hocket;
using namespace hocket_test;

namespace {

template <class T>
T ended(loop& lp, join_handle<T> handle) {
  lp.run();
  return sync_wait(handle);
}

task<const void*> address_of(const text& of) {
  co_await yield();
  co_return &of;
}

struct base_part {
  int number = 0;
};
struct whole_part : base_part {};
task<int> number_of(const base_part& of) {
  co_await yield();
  co_return of.number;
}

struct leads_to {
  const text& to;
  operator const text&() const noexcept { return to; }
};

}  // namespace

TEST_CASE("what a parameter refers to is made of the argument when it is stored, and lives as long as the coroutine") {
  loop lp;
  CHECK(ended(lp, spawn(lp, read_later, "function")) == "function");
  CHECK(ended(lp, spawn(lp, &read_moved, "moved")) == "moved");
  CHECK(ended(lp, spawn(lp, known, "lambda")) == "lambda");
  CHECK(ended(lp, spawn(lp, &reader::read, reader(), "pointer")) == "member: pointer");
  const reader own;
  CHECK(ended(lp, spawn(lp, &reader::read, &own, "pointer")) == "member: pointer");
  CHECK(ended(lp, spawn(lp, &reader::read, std::ref(own), "pointer")) == "member: pointer");
  auto mutates = [n = 1](const text& from) mutable noexcept -> task<std::string> {
    ++n;
    co_await yield();
    co_return text::live > 0 && n == 2 ? from.words : "gone";
  };
  CHECK(ended(lp, spawn(lp, mutates, "mutable")) == "mutable");
  CHECK(text::live == 0);
}

TEST_CASE("what the parameters of an overloaded or generic callable refer to lives as long as the coroutine") {
  loop lp;
  CHECK(ended(lp, spawn(lp, generic, 1, "generic")) == "generic");
  CHECK(ended(lp, spawn(lp, overloaded(), 1, "number")) == "number");
  CHECK(ended(lp, spawn(lp, overloaded(), "pointer", std::string("string"))) == "string");
  CHECK(ended(lp, spawn(lp, by_default, 1)) == "default");
  CHECK(ended(lp, spawn(lp, only_default)) == "default");
  CHECK(text::live == 0);
}

TEST_CASE("an object that is converted is stored, too: what it is converted to may refer to it") {
  loop lp;
  auto views = [](const std::string_view& from) -> task<std::string> {
    co_await yield();
    co_return std::string(from);
  };
  CHECK(ended(lp, spawn(lp, views, std::string("a string that is not in a small buffer"))).size() == 38);
  CHECK(ended(lp, spawn(lp, read_later, std::string("string"))) == "string");
  auto calls = [](const std::function<int()>& f) -> task<int> {
    co_await yield();
    co_return f();
  };
  CHECK(ended(lp, spawn(lp, calls, [n = std::make_shared<int>(7)] { return *n; })) == 7);
  auto shares = [](const std::shared_ptr<const int>& n) -> task<int> {
    co_await yield();
    co_return *n;
  };
  CHECK(ended(lp, spawn(lp, shares, std::make_shared<int>(8))) == 8);
}

TEST_CASE("a pointer into a buffer is read when it is stored, where the parameter is an object") {
  loop lp;
  auto by_value = [](text from) -> task<std::string> { co_return from.words; };
  char buffer[16] = "first";
  auto one = spawn(lp, read_later, buffer), two = spawn(lp, by_value, buffer);
  std::strcpy(buffer, "later");
  CHECK(ended(lp, std::move(one)) == "first");
  CHECK(ended(lp, std::move(two)) == "first");
}

TEST_CASE("numbers, pointers to members of a family, and null pointers are converted, too") {
  loop lp;
  auto adds = [](const long& a, const double& b) -> task<double> {
    co_await yield();
    co_return static_cast<double>(a) + b;
  };
  CHECK(ended(lp, spawn(lp, adds, 1, 2)) == 3.0);
  auto points = [](base_part* const& to) -> task<int> {
    co_await yield();
    co_return to->number;
  };
  whole_part part;
  part.number = 5;
  CHECK(ended(lp, spawn(lp, points, &part)) == 5);
  auto empty = [](const std::shared_ptr<int>& of) -> task<bool> {
    co_await yield();
    co_return of == nullptr;
  };
  CHECK(ended(lp, spawn(lp, empty, nullptr)));
}

TEST_CASE("what is referred to is not converted: std::ref, a derived class, an operator that gives a reference") {
  loop lp;
  const text there("there");
  CHECK(ended(lp, spawn(lp, address_of, std::ref(there))) == &there);
  CHECK(ended(lp, spawn(lp, address_of, leads_to{there})) == &there);
  whole_part part;
  part.number = 6;
  CHECK(ended(lp, spawn(lp, number_of, std::ref(part))) == 6);
  CHECK(ended(lp, spawn(lp, number_of, part)) == 6);
}

TEST_CASE("every target stores converted arguments") {
  loop lp;
  auto in_scope_of = [](scope& all) -> task<std::string> {
    auto one = spawn(all, read_later, "scope");
    auto two = spawn(all, generic, 1, " of both");
    auto first = co_await one;
    co_return first + co_await two;
  };
  auto whole = [&]() -> task<std::string> { co_return co_await in_scope(in_scope_of); };
  CHECK(ended(lp, spawn(lp, whole)) == "scope of both");
  spawn_batch batch(lp);
  auto one = spawn(batch, read_later, "batch"), two = spawn(batch, {.name = "named"}, generic, 1, "batched");
  batch.flush();
  CHECK(ended(lp, std::move(one)) == "batch");
  CHECK(ended(lp, std::move(two)) == "batched");
  runtime rt({.workers = 1});
  auto far = spawn(rt, read_later, "runtime");
  CHECK(sync_wait(far) == "runtime");
}
