#include <hocket/core/observer.hpp>

#include <hocket/core/stop.hpp>

#include "unit/core/permit_source.hpp"
#include "unit/core/recorder.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <optional>

using namespace hocket;
using namespace hocket_test;

namespace {

script take_one(permit_source& source, std::optional<detail::wait_end>& got) { got = co_await source.acquire(); }

}  // namespace

TEST_CASE("an observer is installed, found and removed") {
  CHECK(detail::installed_observer() == nullptr);
  {
    recorder watching;
    CHECK(detail::installed_observer() == &watching);
  }
  CHECK(detail::installed_observer() == nullptr);
}

TEST_CASE("a wait tells who suspends, where, and that it is woken") {
  recorder watching;
  stepped_executor on;
  permit_source source;
  std::optional<detail::wait_end> got;
  auto waiting = take_one(source, got);
  waiting.start(on);
  on.run();
  CHECK(watching.told(waiting.handle().address()) == list_of{"suspended"});
  CHECK(watching.events().back().detail == static_cast<const primitive::wait_source*>(&source));
  source.release();
  CHECK(watching.told(waiting.handle().address()) == list_of{"suspended", "woken"});
  on.run();
  CHECK(watching.told().size() == 2);
}

TEST_CASE("a permit that is free is no event") {
  recorder watching;
  stepped_executor on;
  permit_source source(1);
  std::optional<detail::wait_end> got;
  auto waiting = take_one(source, got);
  waiting.start(on);
  on.run();
  CHECK(watching.told().empty());
}

TEST_CASE("a wait that is decided before its commit is woken as often as it is suspended") {
  recorder watching;
  stepped_executor on;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  stop.request();
  permit_source source;
  std::optional<detail::wait_end> got;
  auto waiting = take_one(source, got);
  waiting.start(on, ctx.get());
  on.run();
  CHECK(got == detail::wait_end::cancelled);
  CHECK(watching.told() == list_of{"suspended", "woken"});
}
