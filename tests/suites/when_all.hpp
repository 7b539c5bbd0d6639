// when_all and when_all_settled, for every kind of parent. The children are tasks and operations.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/coro/when_all.hpp>

#include "suites/when_children.hpp"

namespace hocket_test {

TEST_CASE_TEMPLATE("when_all gives what all of a pack gave, in the order given", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  int noted = 0, sum = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all(number(1), boxed(2), note(noted), number(4));
    sum = std::get<0>(all) + *std::get<1>(all) + std::get<3>(all);
    CHECK(std::get<2>(all) == no_value{});
  };
  auto id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
  CHECK(sum == 7);
  CHECK(noted == 1);
}

TEST_CASE_TEMPLATE("when_all waits for all, whichever comes first", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  basic_event<strength::shared> one, two;
  std::optional<int> sum;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    witness unused[2];
    auto both = co_await when_all(waits(one, unused[0], 1), waits(two, unused[1], 2));
    sum = std::get<0>(both) * 10 + std::get<1>(both);
  };
  world.start(body);
  world.settle();
  two.set();
  world.settle();
  CHECK_FALSE(sum);
  one.set();
  world.settle();
  CHECK(sum == 12);
}

TEST_CASE_TEMPLATE("a group in which something gives a result gives one result", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  auto ends = make_oneshot<int>();
  event opened;
  int got = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all(ends.receiver.receive(), number(2), opened.wait());
    static_assert(std::is_same_v<decltype(all), result<std::tuple<int, int, no_value>>>);
    got = std::get<0>(*all) + std::get<1>(*all);
  };
  world.start(body);
  world.settle();
  ends.sender.send(5);
  world.settle();
  CHECK(got == 0);
  opened.set();
  world.settle();
  CHECK(got == 7);
}

TEST_CASE_TEMPLATE("the first error cancels the others, and is the group's", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never, gate;
  witness of[2];
  std::error_code error;
  Kind world;
  auto late = [&]() -> task<result<int>> {
    static_cast<void>(co_await gate.wait());
    co_return failure(std::errc::host_unreachable);
  };
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all(waits(never, of[0]), late(), waits(never, of[1]));
    error = all.error();
  };
  world.start(body);
  world.settle();
  CHECK(of[1].waited);
  gate.set();
  world.settle();
  CHECK(error == std::errc::host_unreachable);
  for (const witness& one : of) CHECK(one.error == std::errc::operation_canceled);
}

TEST_CASE_TEMPLATE("the first exception cancels the others, and is rethrown when they have ended", Kind,
                   HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  witness of;
  std::string what;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    try {
      static_cast<void>(co_await when_all(waits(never, of), throws("first"), throws("second")));
    } catch (const std::runtime_error& thrown) {
      what = thrown.what();
      CHECK(of.ended);
    }
  };
  world.start(body);
  world.settle();
  CHECK(what == "first");
  CHECK(of.error == std::errc::operation_canceled);
}

TEST_CASE_TEMPLATE("what has not begun when a group is decided never begins", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  auto broken = make_oneshot<int>();
  broken.sender = {};  // fails at once
  int noted = 0;
  std::error_code error;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all(broken.receiver.receive(), note(noted));
    error = all.error();
  };
  world.start(body);
  world.settle();
  CHECK(error == std::errc::broken_pipe);
  CHECK(noted == 0);
}

TEST_CASE_TEMPLATE("when_all of a range gives a vector; of nothing, an empty one", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  std::vector<int> got{-1};
  std::size_t none = 1;
  int noted = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    std::vector<task<int>> numbers, nothing;
    for (int i = 0; i < 100; ++i) numbers.push_back(number(i));
    got = co_await when_all(std::move(numbers));
    auto empty = co_await when_all(std::move(nothing));
    none = empty.size();
    std::vector<task<>> notes;
    for (int i = 0; i < 3; ++i) notes.push_back(note(noted));
    co_await when_all(std::move(notes));
  };
  auto id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
  REQUIRE(got.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
  CHECK(none == 0);
  CHECK(noted == 3);
}

TEST_CASE_TEMPLATE("a cancelled parent's children are cancelled, and then it goes on", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  witness of;
  std::error_code error;
  bool threw = false;
  Kind world;
  auto with_result = [&]() -> typename Kind::body {
    auto all = co_await when_all(never.wait(), waits_or_throws(never, 1));
    error = all.error();
  };
  auto with_values = [&]() -> typename Kind::body {
    try {
      static_cast<void>(co_await when_all(waits(never, of), waits_or_throws(never, 1)));
    } catch (const cancelled&) {
      threw = true;
    }
  };
  auto one = world.start(with_result), two = world.start(with_values);
  world.settle();
  world.cancel(one);
  world.cancel(two);
  world.settle();
  CHECK(world.ended(one) == fate::ended);
  CHECK(world.ended(two) == fate::ended);
  CHECK(error == std::errc::operation_canceled);
  CHECK(threw);
  CHECK(of.error == std::errc::operation_canceled);
}

TEST_CASE_TEMPLATE("a killed parent's children are unwound, and then it is", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  witness of[2], parent;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    notes_unwinding note{parent};
    static_cast<void>(co_await when_all(waits(never, of[0]), never.wait(), waits(never, of[1])));
    parent.ended = true;
  };
  auto id = world.start(body);
  world.settle();
  world.kill(id);
  world.settle();
  CHECK(world.ended(id) == fate::killed);
  for (const witness& one : of) CHECK(one.unwound);
  CHECK(parent.unwound);
}

TEST_CASE_TEMPLATE("while one child of a killed parent is unwound, another one runs on to its next wait", Kind,
                   HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never, gate;
  witness of[2];
  Kind world;
  auto busy = [&]() -> task<int> {
    notes_unwinding note{of[1]};
    static_cast<void>(co_await gate.wait());
    world.kill(0);  // unwinds the other one first: it waits
    co_await yield();
    static_cast<void>(co_await never.wait());
    of[1].ended = true;
    co_return 0;
  };
  auto body = [&]() -> typename Kind::body { static_cast<void>(co_await when_all(waits(never, of[0]), busy())); };
  auto id = world.start(body);
  world.settle();
  gate.set();
  world.settle();
  CHECK(world.ended(id) == fate::killed);
  for (const witness& one : of) CHECK(one.unwound);
}

TEST_CASE_TEMPLATE("a deadline of a group is one of its children's waits", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  witness of;
  std::error_code waited, thrown;
  std::optional<int> in_time;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto late = co_await within(50ms, when_all(waits(never, of), never.wait()));
    waited = late.error();
    auto threw = co_await within(50ms, when_all(waits_or_throws(never, 1)));
    thrown = threw.error();
    auto done = co_await within(50ms, when_all(number(3)));
    in_time = std::get<0>(*done);
  };
  world.start(body);
  world.settle();
  world.pass(49ms);
  CHECK_FALSE(waited);
  world.pass(1ms);
  CHECK(waited == std::errc::timed_out);
  CHECK(of.error == std::errc::timed_out);
  world.pass(50ms);
  CHECK(thrown == std::errc::timed_out);
  CHECK(in_time == 3);
}

TEST_CASE_TEMPLATE("a child's exception is not taken for the deadline of its group", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  std::string text;
  std::error_code error;
  Kind world;
  auto refused = []() -> task<> {
    throw std::system_error(make_error_code(std::errc::io_error));
    co_return;
  };
  auto body = [&]() -> typename Kind::body {
    try {
      static_cast<void>(co_await within(50ms, when_all(throws("x"))));
    } catch (const std::runtime_error& thrown) {
      text = thrown.what();
    }
    try {
      static_cast<void>(co_await within(50ms, when_all(refused())));
    } catch (const std::system_error& thrown) {
      error = thrown.code();
    }
  };
  world.start(body);
  world.settle();
  CHECK(text == "x");
  CHECK(error == std::errc::io_error);
}

TEST_CASE_TEMPLATE("when_all_settled cancels nobody, and tells how each ended", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never, gate;
  int noted = 0;
  bool over = false;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all_settled(number(1), fails(std::errc::io_error), throws("x"), note(noted),
                                         within(10ms, never.wait()), waits_or_throws(gate, 6));
    CHECK(std::get<0>(all).kind() == hocket::outcome_kind::value);
    CHECK(*std::get<0>(all) == 1);
    CHECK(std::get<1>(all).kind() == hocket::outcome_kind::error);
    CHECK(std::get<1>(all).error() == std::errc::io_error);
    CHECK(std::get<2>(all).kind() == hocket::outcome_kind::exception);
    CHECK_THROWS_AS(std::move(std::get<2>(all)).value(), std::runtime_error);
    CHECK(std::get<3>(all).kind() == hocket::outcome_kind::value);
    CHECK(std::get<4>(all).kind() == hocket::outcome_kind::timed_out);
    CHECK(*std::get<5>(all) == 6);
    over = true;
  };
  world.start(body);
  world.settle();
  world.pass(10ms);
  CHECK_FALSE(over);
  gate.set();
  world.settle();
  CHECK(over);
  CHECK(noted == 1);
}

TEST_CASE_TEMPLATE("groups nest, and are wide", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  int sum = 0;
  std::size_t wide = 0;
  Kind world;
  auto pair = [](int n) -> task<int> {
    auto both = co_await when_all(number(n), number(n));
    co_return std::get<0>(both) + std::get<1>(both);
  };
  auto body = [&]() -> typename Kind::body {
    auto all = co_await when_all(pair(1), pair(2), when_all(number(3), pair(4)));
    sum = std::get<0>(all) + std::get<1>(all) + std::get<0>(std::get<2>(all)) + std::get<1>(std::get<2>(all));
    std::vector<task<int>> many;
    for (int i = 0; i < 10000; ++i) many.push_back(number(1));
    auto ones = co_await when_all(std::move(many));
    wide = ones.size();
  };
  world.start(body);
  world.settle();
  CHECK(sum == 17);
  CHECK(wide == 10000);
}

TEST_CASE_TEMPLATE("a group in a group is its child: failure and deadline reach down", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  event never;
  witness of[4];
  std::error_code failed, late;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto one = co_await when_all(when_all(waits(never, of[0]), waits(never, of[1])), fails(std::errc::io_error));
    failed = one.error();
    auto two = co_await within(10ms, when_all(when_all(waits(never, of[2]), waits(never, of[3])), never.wait()));
    late = two.error();
  };
  world.start(body);
  world.settle();
  CHECK(failed == std::errc::io_error);
  CHECK(of[1].error == std::errc::operation_canceled);
  world.pass(10ms);
  CHECK(late == std::errc::timed_out);
  CHECK(of[3].error == std::errc::timed_out);
}

TEST_CASE_TEMPLATE("children of one parent exclude each other by a mutex", Kind, HOCKET_SHARED_KINDS) {
  using namespace when_suite;
  mutex m;
  int inside = 0, most = 0;
  Kind world;
  auto enter = [&]() -> task<> {
    auto held = co_await m.lock();
    most = std::max(most, ++inside);
    co_await yield();
    --inside;
  };
  auto body = [&]() -> typename Kind::body { static_cast<void>(co_await when_all(enter(), enter(), enter())); };
  auto id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
  CHECK(most == 1);
}

}  // namespace hocket_test
