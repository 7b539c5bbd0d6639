// when_any and when_some, and what does not begin in a group that is decided, for every kind of parent. The children
// are tasks and operations.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/coro/when_some.hpp>

#include "suites/when_children.hpp"

namespace hocket_test {

TEST_CASE_TEMPLATE("when_any goes on with the first that ends; the others are cancelled", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event one, two;
  witness of[2];
  std::size_t index = 9;
  int value = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto first = co_await when_any(waits(one, of[0], 1), waits(two, of[1], 2));
    index = first.index();
    if (index == 1) value = *first.template get<1>();
  };
  world.start(body);
  world.settle();
  two.set();
  world.settle();
  CHECK(index == 1);
  CHECK(value == 2);
  CHECK(of[0].error == std::errc::operation_canceled);
  CHECK_FALSE(of[1].error);
}

TEST_CASE_TEMPLATE("of what is possible at once the one given first wins, and no other begins", Kind,
                   HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event ready, also;
  ready.set();
  also.set();
  int noted = 0;
  std::size_t index = 9;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto first = co_await when_any(ready.wait(), also.wait(), note(noted));
    index = first.index();
    CHECK(first.template get<0>().has_value());
  };
  world.start(body);
  world.settle();
  CHECK(index == 0);
  CHECK(noted == 0);
}

TEST_CASE_TEMPLATE("a task that wins without waiting is the only one that begins", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  int noted = 0;
  std::size_t index = 9, enough = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto first = co_await when_any(number(1), counts(noted), counts(noted));
    index = first.index();
    std::vector<task<int>> range;
    for (int i = 0; i < 4; ++i) range.push_back(i < 2 ? number(i) : counts(noted));
    auto some = co_await when_some(2, std::move(range));
    enough = some.size();
  };
  auto id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
  CHECK(index == 0);
  CHECK(enough == 2);
  CHECK(noted == 0);
}

TEST_CASE_TEMPLATE("a task whose group was decided while it stood in the queue never begins", Kind,
                   HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  int noted = 0;
  std::error_code error;
  std::string what;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all(fails(std::errc::io_error), note(noted), note(noted));
    error = all.error();
    try {
      co_await when_all(throws("first"), note(noted), then(note(noted), [&] { ++noted; }));
    } catch (const std::runtime_error& thrown) {
      what = thrown.what();
    }
    std::vector<task<int>> range;
    range.push_back(number(1));
    range.push_back(throws("second"));
    range.push_back(counts(noted));
    try {
      static_cast<void>(co_await when_all(std::move(range)));
    } catch (const std::runtime_error& thrown) {
      what += thrown.what();
    }
  };
  auto id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
  CHECK(error == std::errc::io_error);
  CHECK(what == "firstsecond");
  CHECK(noted == 0);
}

TEST_CASE_TEMPLATE("a group in a decided group begins none of its tasks", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  int noted = 0;
  std::error_code error;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all(fails(std::errc::io_error), when_all(note(noted), note(noted)),
                                 when_all_settled(note(noted)));
    error = all.error();
  };
  auto id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
  CHECK(error == std::errc::io_error);
  CHECK(noted == 0);
}

TEST_CASE_TEMPLATE("a child that stops its parent's group by stopping the parent is the last to begin", Kind,
                   HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  int noted = 0;
  bool killed_too = true;
  Kind world;
  auto stops = [&](int who, bool kill) -> task<> {
    if (kill) world.kill(who);
    else world.cancel(who);
    co_return;
  };
  auto cancelled_one = [&]() -> typename Kind::body {
    auto all = co_await when_all_settled(stops(0, false), note(noted));
    CHECK(std::get<1>(all).kind() == hocket::outcome_kind::cancelled);
  };
  auto killed_one = [&]() -> typename Kind::body {
    co_await when_all(stops(1, true), note(noted));
    killed_too = false;
  };
  if constexpr (takes_turns<Kind>) {
    world.start(cancelled_one);
    world.settle();
    auto id = world.start(killed_one);
    world.settle();
    CHECK(world.ended(id) == fate::killed);
    CHECK(killed_too);
    CHECK(noted == 0);
  }
}

TEST_CASE_TEMPLATE("the exception of the first that ends is rethrown; an error is in its result", Kind,
                   HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  witness of;
  bool threw = false;
  std::error_code error;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    try {
      static_cast<void>(co_await when_any(waits(never, of), throws("first")));
    } catch (const std::runtime_error&) {
      threw = true;
    }
    auto first = co_await when_any(waits(never, of), fails(std::errc::io_error));
    error = first.template get<1>().error();
  };
  world.start(body);
  world.settle();
  CHECK(threw);
  CHECK(error == std::errc::io_error);
}

TEST_CASE_TEMPLATE("a group that loses is cancelled with all that is in it", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  witness of[2];
  std::size_t index = 9;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto first = co_await when_any(when_any(waits(never, of[0]), waits(never, of[1])), number(1));
    index = first.index();
  };
  world.start(body);
  world.settle();
  CHECK(index == 1);
  for (const witness& one : of) CHECK(one.error == std::errc::operation_canceled);
}

TEST_CASE_TEMPLATE("when_any of a range tells which one it was", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  std::vector<std::unique_ptr<event>> gates;
  for (int i = 0; i < 5; ++i) gates.push_back(std::make_unique<event>());
  std::size_t index = 9;
  int value = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    std::vector<task<int>> all;
    for (int i = 0; i < 5; ++i) all.push_back(waits_or_throws(*gates[static_cast<std::size_t>(i)], i * i));
    auto first = co_await when_any(std::move(all));
    index = first.index;
    value = *first.value;
  };
  world.start(body);
  world.settle();
  gates[3]->set();
  world.settle();
  CHECK(index == 3);
  CHECK(value == 9);
}

TEST_CASE_TEMPLATE("when_some gives the first ones in the order of ending", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event gates[4];
  std::vector<std::size_t> order;
  std::size_t of_few = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    std::vector<task<int>> all;
    for (event& gate : gates) all.push_back(waits_or_throws(gate, 1));
    auto some = co_await when_some(2, std::move(all));
    for (auto& one : some) {
      order.push_back(one.index);
      CHECK(*one.value == 1);
    }
    auto few = co_await when_some(3, number(1), number(2));
    of_few = few.size();
  };
  world.start(body);
  world.settle();
  gates[2].set();
  world.settle();
  CHECK(order.empty());
  gates[0].set();
  world.settle();
  CHECK(order == std::vector<std::size_t>{2, 0});
  CHECK(of_few == 2);
}

}  // namespace hocket_test
