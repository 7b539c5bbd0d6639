// Scopes in fibers, on loops and threads. What they do in each kind is a suite (tests/suites/scope.hpp).
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>

#include "unit/runtime/gate.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> slow(int& count) {
  for (int i = 0; i < 3; ++i) co_await yield();
  ++count;
}

// A cancel() of another thread that has ended a scope's children and has not returned: the last node that it fires
// keeps it until let_go(). `first` keeps this node out of the source's slot, which is fired before all others.
class held_request {
 public:
  explicit held_request(scope& of) : of_(of) {
    first_.fire = [](detail::stop_node&, stop_level) noexcept {};
    last_.fire = &held_request::hold;
    REQUIRE(of.parent_context().stop()->attach(first_) == stop_level::none);
  }
  ~held_request() { thread_.join(); }

  // Call it when the children wait. Returns when they are cancelled.
  void begin() {
    REQUIRE(of_.parent_context().stop()->attach(last_) == stop_level::none);
    thread_ = std::thread([this] { of_.cancel(); });
    last_.reached.wait(false);
  }
  void let_go() {
    last_.released = true;
    last_.released.notify_one();
  }

 private:
  struct holder : detail::stop_node {
    std::atomic<bool> reached{false}, released{false};
  };
  static void hold(detail::stop_node& self, stop_level) noexcept {
    auto& node = static_cast<holder&>(self);
    node.reached = true;
    node.reached.notify_one();
    node.released.wait(false);
  }

  scope& of_;
  detail::stop_node first_;
  holder last_;
  std::thread thread_;
};

task<> waits_at(gate& shut, std::error_code& ended) { ended = (co_await shut.pass()).error(); }

void run_all(loop& lp) {
  while (lp.step()) continue;
}

}  // namespace

TEST_CASE("a scope in a fiber joins at the brace, both kinds") {
  int count = 0;
  auto body = [&] {
    {
      scope all;
      spawn(all, slow, std::ref(count));
      spawn(all, [&] {
        await(yield());
        ++count;
      });
      CHECK(all.size() == 2);
      CHECK(count == 0);
    }
    CHECK(count == 2);
  };
  run(body);
}

TEST_CASE("the end of a loop ends the children that a coroutine of another loop has there") {
  loop here;
  gate shut;
  bool after = false;
  {
    loop there;
    spawn(here, [&] {
      {
        scope all{there};
        spawn(all, [&] { static_cast<void>(await(shut.pass())); });
      }
      after = true;
    });
    here.step();
    there.step();
  }
  CHECK_FALSE(after);
  here.run();
  CHECK(after);
}

TEST_CASE("of several children that fail, the first exception that is received goes on") {
  auto fail = [](const char* what) { throw std::runtime_error(what); };
  auto in_fiber = [&] {
    scope all;
    auto first = spawn(all, fail, "first");
    auto second = spawn(all, fail, "second");
    auto later = spawn(all, [&] {
      await(yield());
      fail("later");
    });
    await(first);
  };
  CHECK_THROWS_WITH_AS(run(in_fiber), "first", std::runtime_error);
  auto body = [&](scope& all) -> task<> {
    auto first = spawn(all, fail, "first");
    auto second = spawn(all, fail, "second");
    co_await first;
  };
  auto in_task = [&]() -> task<> { co_await in_scope(body); };
  CHECK_THROWS_WITH_AS(run(in_task), "first", std::runtime_error);
}

TEST_CASE("children that children spawn are joined, too") {
  int count = 0;
  auto body = [&] {
    scope all;
    spawn(all, [&] {
      await(yield());
      spawn([&] {  // on the spawner's own target
        await(yield());
        spawn(all, slow, std::ref(count));
      });
    });
  };
  run(body);
  CHECK(count == 1);
}

TEST_CASE("a scope that is left by an exception cancels its children first") {
  gate shut;
  std::error_code ended;
  auto body = [&] {
    scope all;
    spawn(all, [&] { ended = await(shut.pass()).error(); });
    await(yield());
    throw std::runtime_error("out");
  };
  CHECK_THROWS_AS(run(body), std::runtime_error);
  CHECK(ended == std::errc::operation_canceled);
}

TEST_CASE("cancelling a coroutine cancels the children of its scope, killing kills them") {
  gate shut;
  std::vector<std::error_code> ended;
  bool parent_ended = false;
  loop lp;
  auto parent = [&] {
    {
      scope all;
      for (int i = 0; i < 3; ++i) spawn(all, [&] { ended.push_back(await(shut.pass()).error()); });
    }
    parent_ended = true;
  };
  auto cancelled_one = spawn(lp, parent);
  while (lp.step()) {
  }
  cancelled_one.cancel();
  lp.run();
  CHECK(ended.size() == 3);
  CHECK(parent_ended);
  parent_ended = false;
  auto killed_one = spawn(lp, parent);
  while (lp.step()) {
  }
  killed_one.kill();
  lp.run();
  CHECK(ended.size() == 3);  // unwound, they saw no error
  CHECK(lp.live() == 0);
}

TEST_CASE("a deadline of a scope is one of its children") {
  manual_clock time;
  simulated_parker parks(time);
  loop lp({.clock = &time, .parker = &parks});
  gate shut;
  std::error_code ended;
  spawn(lp, [&] {
    scope all({.within = 5ms});
    spawn(all, [&] { ended = await(shut.pass()).error(); });
  });
  lp.run();
  CHECK(ended == std::errc::timed_out);
  CHECK(time.now() == time_point{} + 5ms);
}

TEST_CASE("a scope may be joined and used again") {
  int count = 0;
  auto body = [&] {
    scope all;
    for (int round = 1; round <= 3; ++round) {
      spawn(all, slow, std::ref(count));
      CHECK(await(all.join()));
      CHECK(count == round);
    }
  };
  run(body);
}

TEST_CASE("a plain thread's scope is joined on a loop that another thread runs") {
  int count = 0;
  loop lp;
  std::thread worker;
  {
    scope all(lp);
    spawn(all, slow, std::ref(count));
    worker = std::thread([&] { lp.run(); });
  }
  worker.join();
  CHECK(count == 1);
}

TEST_CASE("a scope does not end before a cancel of another thread has returned, though its children have") {
  gate shut;
  std::error_code ended;
  std::optional<held_request> request;
  loop lp;
  auto in_fiber = [&] {
    scope all;
    request.emplace(all);
    spawn(all, waits_at, std::ref(shut), std::ref(ended));
  };
  auto in_task = [&]() -> task<> {
    auto body = [&](scope& all) -> task<> {
      request.emplace(all);
      spawn(all, waits_at, std::ref(shut), std::ref(ended));
      co_return;
    };
    co_await in_scope(body);
  };
  auto check = [&](auto& parent) {
    ended = {};
    auto whole = spawn(lp, parent);
    run_all(lp);
    request->begin();
    run_all(lp);
    CHECK(ended == std::errc::operation_canceled);
    CHECK_FALSE(whole.done());
    request->let_go();
    lp.run();
    CHECK(whole.done());
    request.reset();
  };
  check(in_fiber);
  check(in_task);
}

TEST_CASE("a join waits for a cancel under way, and the scope is used again") {
  gate shut;
  std::error_code ended;
  std::optional<held_request> request;
  loop lp;
  int rounds = 0;
  auto whole = spawn(lp, [&] {
    scope all;
    request.emplace(all);
    spawn(all, waits_at, std::ref(shut), std::ref(ended));
    CHECK(await(all.join()));
    ++rounds;
    spawn(all, waits_at, std::ref(shut), std::ref(ended));  // cancelled as those before
    CHECK(await(all.join()));
    ++rounds;
  });
  run_all(lp);
  request->begin();
  run_all(lp);
  CHECK(rounds == 0);
  request->let_go();
  lp.run();
  CHECK(rounds == 2);
  CHECK(ended == std::errc::operation_canceled);
}

TEST_CASE("a plain thread leaves its scope when a cancel under way has returned") {
  gate shut;
  std::error_code ended;
  std::atomic<bool> left{false};
  std::optional<held_request> request;
  loop lp;
  std::binary_semaphore made(0);
  std::thread owner([&] {
    {
      scope all(lp);
      request.emplace(all);
      spawn(all, waits_at, std::ref(shut), std::ref(ended));
      made.release();
    }
    left = true;
  });
  made.acquire();
  run_all(lp);
  request->begin();
  run_all(lp);
  CHECK_FALSE(left);
  request->let_go();
  owner.join();
  CHECK(left);
}

TEST_CASE("a cancel under way where no child is left is waited for, too") {
  std::optional<held_request> request;
  loop lp;
  event gone;
  auto whole = spawn(lp, [&] {
    scope all;
    request.emplace(all);
    static_cast<void>(await(gone.wait()));
  });
  run_all(lp);
  request->begin();
  gone.set();
  run_all(lp);
  CHECK_FALSE(whole.done());
  request->let_go();
  lp.run();
  CHECK(whole.done());
}
