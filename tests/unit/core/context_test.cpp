#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <cstdint>
#include <doctest/doctest.h>
#include <string_view>

using namespace hocket;

namespace {

constexpr time_point at(int seconds) { return time_point{} + std::chrono::seconds(seconds); }

}  // namespace

TEST_CASE("the root context has no parent, stop or deadline, and a name all the same") {
  context& root = context::root();
  CHECK(&root == &context::root());
  CHECK(root.parent() == nullptr);
  CHECK(root.stop() == nullptr);
  CHECK(root.deadline() == time_point::max());
  CHECK(root.name() != nullptr);
}

TEST_CASE("a child takes from its parent what it does not override") {
  stop_source stop;
  auto parent = context::child_of(context::root(), {.name = "parent", .stop = &stop, .deadline = at(5)});
  auto child = context::child_of(*parent, {});
  CHECK(child->parent() == parent.get());
  CHECK(child->name() == std::string_view("parent"));
  CHECK(child->stop() == &stop);
  CHECK(child->deadline() == at(5));

  stop_source other;
  auto different = context::child_of(*parent, {.name = "child", .stop = &other});
  CHECK(different->name() == std::string_view("child"));
  CHECK(different->stop() == &other);
}

TEST_CASE("the deadline of a child is the earlier one") {
  auto parent = context::child_of(context::root(), {.deadline = at(5)});
  CHECK(context::child_of(*parent, {.deadline = at(3)})->deadline() == at(3));
  CHECK(context::child_of(*parent, {.deadline = at(7)})->deadline() == at(5));
  CHECK(context::child_of(*parent, {.deadline = time_point::min()})->deadline() == time_point::min());
}

TEST_CASE("a context knows where it was spawned") {
  const auto line = static_cast<unsigned>(__LINE__ + 1);
  auto here = context::child_of(context::root(), {});
  CHECK(here->spawned().line() == line);
}

TEST_CASE("a child keeps its parent alive") {
  auto parent = context::child_of(context::root(), {.name = "parent"});
  auto child = context::child_of(*parent, {});
  parent = {};
  context_ptr moved = std::move(child);
  CHECK(moved->parent()->name() == std::string_view("parent"));  // ASan sees it otherwise
}

TEST_CASE("a pointer shares and gives back") {
  auto one = context::child_of(context::root(), {.name = "shared"});
  context_ptr two(*one);
  one = {};
  CHECK_FALSE(one);
  CHECK(two->name() == std::string_view("shared"));
}

TEST_CASE("a long line of ancestors ends without recursion") {
  context_ptr last(context::root());
  for (int generation = 0; generation < 500'000; ++generation) last = context::child_of(*last, {});
  last = {};
  CHECK_FALSE(last);
}

TEST_CASE("a look from outside at a context of no coroutine finds none, nor does one where no memory is") {
  auto child = context::child_of(context::root(), {});
  CHECK(context::coroutine_of(child.get()) == nullptr);
  CHECK(context::coroutine_of(nullptr) == nullptr);
  CHECK(context::coroutine_of(reinterpret_cast<const context*>(std::uintptr_t{64})) == nullptr);
}

TEST_CASE("code in no coroutine runs under the root context") { CHECK(&current_context() == &context::root()); }
