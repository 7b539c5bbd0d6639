#include <hocket/core/observer.hpp>

#include <hocket/core/stop.hpp>

#include "unit/core/permit_source.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

class recorder final : public observer {
 public:
  recorder() { outer_ = install_observer(this); }
  ~recorder() { install_observer(outer_); }

  void created(const void*, const context&) noexcept override { events.push_back("created"); }
  void suspended(const void* frame, const void* source) noexcept override {
    events.push_back("suspended");
    last_frame = frame;
    last_source = source;
  }
  void woken(const void* frame) noexcept override {
    events.push_back("woken");
    last_frame = frame;
  }
  void destroyed(const void*) noexcept override { events.push_back("destroyed"); }

  std::vector<std::string> events;
  const void* last_frame = nullptr;
  const void* last_source = nullptr;

 private:
  observer* outer_;
};

using list_of = std::vector<std::string>;

script take_one(permit_source& source, std::optional<verdict>& got) { got = co_await source.acquire(); }

}  // namespace

TEST_CASE("an observer is installed, found and removed") {
  CHECK(installed_observer() == nullptr);
  {
    recorder watching;
    CHECK(installed_observer() == &watching);
  }
  CHECK(installed_observer() == nullptr);
}

TEST_CASE("a wait tells who suspends, where, and that it is woken") {
  recorder watching;
  stepped_executor on;
  permit_source source;
  std::optional<verdict> got;
  auto waiting = take_one(source, got);
  waiting.start(on);
  on.run();
  CHECK(watching.events == list_of{"suspended"});
  CHECK(watching.last_frame == waiting.handle().address());
  CHECK(watching.last_source == static_cast<const wait_source*>(&source));
  watching.last_frame = nullptr;
  source.release();
  CHECK(watching.events == list_of{"suspended", "woken"});
  CHECK(watching.last_frame == waiting.handle().address());
  on.run();
  CHECK(watching.events.size() == 2);
}

TEST_CASE("a permit that is free is no event") {
  recorder watching;
  stepped_executor on;
  permit_source source(1);
  std::optional<verdict> got;
  auto waiting = take_one(source, got);
  waiting.start(on);
  on.run();
  CHECK(watching.events.empty());
}

TEST_CASE("a wait that is decided before its commit is woken as often as it is suspended") {
  recorder watching;
  stepped_executor on;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  stop.request();
  permit_source source;
  std::optional<verdict> got;
  auto waiting = take_one(source, got);
  waiting.start(on, ctx.get());
  on.run();
  CHECK(got == verdict::cancelled);
  CHECK(watching.events == list_of{"suspended", "woken"});
}
