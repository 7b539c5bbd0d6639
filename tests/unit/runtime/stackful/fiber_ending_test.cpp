// How fibers end: by an exception that nobody receives, and by themselves.
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/mutex.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

std::string unhandled;

void note_unhandled(std::exception_ptr error, const context& ctx) noexcept {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::runtime_error& thrown) {
    unhandled += std::string(ctx.name()) + ": " + thrown.what() + "\n";
  }
}

int refuse() {
  await(yield());
  throw std::runtime_error("refused");
}

struct leaving {
  std::vector<std::string>& to;
  const char* what;
  ~leaving() { to.emplace_back(what); }
};

}  // namespace

TEST_CASE("an exception of a fiber that nobody receives goes to on_unhandled, whenever the handle is dropped") {
  unhandled.clear();
  loop lp({.on_unhandled = &note_unhandled});
  spawn(lp, {.name = "at once"}, refuse);
  lp.run();
  CHECK(unhandled == "at once: refused\n");
  auto handle = spawn(lp, {.name = "later"}, refuse);
  auto joined = spawn(lp, {.name = "joined"}, refuse);
  lp.run();
  CHECK(unhandled == "at once: refused\n");
  handle = {};
  CHECK(unhandled == "at once: refused\nlater: refused\n");
  CHECK_THROWS_WITH_AS(sync_wait(joined), "refused", std::runtime_error);
  joined = {};
  CHECK(unhandled == "at once: refused\nlater: refused\n");
}

TEST_CASE("without a handler an exception of a fiber that nobody receives is fatal, by name") {
  auto lose_one = [] {
    loop lp;
    spawn(lp, {.name = "culprit"}, refuse);
    lp.run();
  };
  expect_fatal(lose_one, "culprit");
}

TEST_CASE("a fiber that kills itself goes on to its next wait, and unwinds there") {
  std::vector<std::string> seen;
  join_handle<> self;
  loop lp;
  auto body = [&] {
    leaving outer{seen, "outer"};
    auto deeper = [&] {
      leaving inner{seen, "inner"};
      self.kill();
      seen.emplace_back("killed");
      await(yield());
      seen.emplace_back("never");
    };
    deeper();
  };
  self = spawn(lp, body);
  lp.run();
  CHECK(seen == std::vector<std::string>{"killed", "inner", "outer"});
  CHECK_THROWS_AS(sync_wait(self), cancelled);
}

TEST_CASE("a fiber that kills itself and waits no more ends as it would") {
  join_handle<int> self;
  loop lp;
  self = spawn(lp, [&] {
    await(yield());
    self.kill();
    return 7;
  });
  lp.run();
  CHECK(sync_wait(self) == 7);
}

TEST_CASE("a fiber that kills itself while it holds a lock gives it back as it unwinds") {
  std::vector<std::string> seen;
  mutex m;
  join_handle<> self;
  loop lp;
  auto holder = [&] {
    auto held = await(m.lock());
    leaving here{seen, "unwinds"};
    self.kill();
    await(yield());
    seen.emplace_back("never");
  };
  auto next = [&] {
    auto held = await(m.lock());
    seen.emplace_back(held ? "next" : "none");
  };
  self = spawn(lp, holder);
  spawn(lp, next);
  lp.run();
  CHECK(seen == std::vector<std::string>{"unwinds", "next"});
}
