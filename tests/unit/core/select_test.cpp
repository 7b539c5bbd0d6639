// Waits with several registrations, and two waits that must be granted together.
#include <hocket/core/choice.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

#include "unit/core/bare_wait.hpp"
#include "unit/core/permit_source.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <optional>

using namespace hocket;
using namespace hocket_test;

namespace {

script take_either(permit_source& zero, permit_source& one, std::optional<permit_source::choice::result>& got) {
  got = co_await permit_source::choice(zero, one);
}

}  // namespace

TEST_CASE("a select is granted once, tells by which registration, and leaves the other source") {
  for (std::size_t index : {0u, 1u}) {
    stepped_executor on;
    permit_source sources[2];
    std::optional<permit_source::choice::result> got;
    auto selecting = take_either(sources[0], sources[1], got);
    selecting.start(on);
    on.run();
    CHECK(sources[0].has_waiters());
    CHECK(sources[1].has_waiters());
    sources[index].release();
    CHECK_FALSE(sources[1 - index].has_waiters());
    sources[1 - index].release();
    on.run();
    REQUIRE(got);
    CHECK(got->how == detail::wait_end::granted);
    CHECK(got->index == index);
    CHECK(sources[index].free() == 0);
    CHECK(sources[1 - index].free() == 1);
    CHECK(on.posts() == 2);
  }
}

TEST_CASE("a select whose second source has a permit takes it and leaves the first") {
  stepped_executor on;
  permit_source zero, one(1);
  std::optional<permit_source::choice::result> got;
  auto selecting = take_either(zero, one, got);
  selecting.start(on);
  on.run();
  REQUIRE(got);
  CHECK(got->how == detail::wait_end::granted);
  CHECK(got->index == 1);
  CHECK_FALSE(zero.has_waiters());
  CHECK(one.free() == 0);
  CHECK(on.posts() == 1);
}

TEST_CASE("fault 12: a select destroyed granted passes on to the source that granted, only") {
  stepped_executor on;
  permit_source sources[2];
  std::optional<permit_source::choice::result> got;
  auto selecting = take_either(sources[0], sources[1], got);
  selecting.start(on);
  on.run();
  sources[1].release();
  REQUIRE(on.take() != nullptr);
  selecting.destroy();
  CHECK(sources[0].passed_on == 0);
  CHECK(sources[1].passed_on == 1);
  CHECK(sources[1].free() == 1);
}

// The sender is linked at `left`, and meets the receiver at `right`.
TEST_CASE("two waits that meet are granted together") {
  for (bool committed : {false, true}) {
    stepped_executor on;
    permit_source left, right;
    bare_wait sender, receiver;
    primitive::waiter at_right;
    receiver.list_at(right, on);
    if (committed) REQUIRE(receiver.wait.commit());
    sender.list_at(left, on);
    primitive::grant met = sender.wait.meet(at_right, right, receiver.entry);
    REQUIRE(met);
    static_cast<void>(right.pop());
    CHECK(on.posts() == 0);
    met.post();
    CHECK(on.posts() == (committed ? 1 : 0));
    if (!committed) CHECK_FALSE(receiver.wait.commit());
    CHECK_FALSE(sender.wait.commit());
    CHECK_FALSE(left.has_waiters());
    CHECK(sender.finish() == detail::wait_end::granted);
    CHECK(receiver.finish() == detail::wait_end::granted);
  }
}

TEST_CASE("two waits of which one is decided are not granted: the other one waits on") {
  stepped_executor on;
  permit_source left, right;
  bare_wait sender, receiver;
  primitive::waiter at_right;
  receiver.list_at(right, on);
  REQUIRE(receiver.wait.commit());
  sender.list_at(left, on);
  left.release();  // decides it while it registers
  CHECK(sender.wait.decided());
  CHECK_FALSE(sender.wait.meet(at_right, right, receiver.entry));
  CHECK_FALSE(receiver.wait.decided());
  CHECK(on.posts() == 0);
  CHECK_FALSE(sender.wait.commit());
  right.release();
  CHECK(on.posts() == 1);
  CHECK(sender.finish() == detail::wait_end::granted);
  CHECK(receiver.finish() == detail::wait_end::granted);
}

TEST_CASE("a choice takes the value of a choice with another index") {
  using either = choice<std::unique_ptr<int>, void>;
  either one(std::in_place_index<0>, std::make_unique<int>(1));
  either other(std::in_place_index<1>, result<void>());
  other = std::move(one);
  REQUIRE(other.index() == 0);
  CHECK(**other.get<0>() == 1);
  other = either(std::in_place_index<0>, std::make_unique<int>(2));
  CHECK(**other.get<0>() == 2);
  other = either(std::in_place_index<1>, failure(std::errc::timed_out));
  REQUIRE(other.index() == 1);
  CHECK(other.get<1>().error() == std::errc::timed_out);
  either& self = other;
  other = std::move(self);
  CHECK(other.get<1>().error() == std::errc::timed_out);
  struct may_throw {
    may_throw(may_throw&&) noexcept(false);
  };
  static_assert(!std::is_move_assignable_v<choice<may_throw>>);
}
