// What an observer is told of raw coroutines: that they are there, and that they are gone.
#include <hocket/core/context.hpp>
#include <hocket/fiber/coroutine.hpp>

#include "unit/core/recorder.hpp"

#include <doctest/doctest.h>
#include <optional>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a raw coroutine is created once and destroyed once, however it ends; its switches are no events") {
  recorder watching;
  for (int resumes : {0, 1, 2}) {  // it has not begun, is suspended, has ended
    const std::size_t before = watching.events().size();
    std::optional<coroutine<void()>> one{[](auto& self) { self.yield(); }};
    REQUIRE(watching.events().size() == before + 1);
    const recorder::event made = watching.events().back();
    CHECK(made.what == "created");
    CHECK(made.detail == &current_context());
    CHECK(watching.kind == observed_kind::raw_fiber);
    CHECK(watching.name == "coroutine");
    for (int i = 0; i < resumes; ++i) one->resume();
    coroutine<void()> moved = std::move(*one);
    one.reset();
    CHECK(watching.events().size() == before + 1);
    CHECK(moved.done() == (resumes == 2));
    moved = coroutine<void()>{[](auto&) {}};
    const auto events = watching.events();
    REQUIRE(events.size() == before + 3);  // the new one has been created, then the old one destroyed
    CHECK(events[before + 2].what == "destroyed");
    CHECK(events[before + 2].who == made.who);
    CHECK(events[before + 1].what == "created");
    CHECK(events[before + 1].who != made.who);
  }
  CHECK(watching.events().size() == 12);
}

TEST_CASE("a coroutine that cannot be made is no event") {
  struct throws {
    throws() = default;
    throws(const throws&) { throw 1; }
    void operator()(coroutine<void()>::self&) {}
  };
  recorder watching;
  throws body;
  CHECK_THROWS([&] { const coroutine<void()> made{body}; }());
  CHECK(watching.told().empty());
}
