// Jobs: functions that are posted, without a coroutine around them. Fibers: stackful/post_fibers_test.cpp.
#include <hocket/core/post.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t worker_counts[] = {1, 2, 4};

void append(std::string& to, const std::string& what) { to += what; }

struct account {
  int balance = 0;
  void add(int amount) { balance += amount; }
};

// Counts when it is destroyed.
struct witness {
  int* gone;
  explicit witness(int& count) noexcept : gone(&count) {}
  witness(witness&& other) noexcept : gone(std::exchange(other.gone, nullptr)) {}
  ~witness() {
    if (gone) ++*gone;
  }
};

std::string unhandled;
void note_unhandled(std::exception_ptr error, const context& ctx) noexcept {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& known) {
    unhandled = std::string(ctx.name()) + ": " + known.what();
  }
}

}  // namespace

TEST_CASE("jobs run once each, on the loop's thread, in the order in which they were posted") {
  loop lp;
  std::string text;
  const std::thread::id here = std::this_thread::get_id();
  std::thread([&] {
    for (int i = 0; i < 5; ++i)
      CHECK_FALSE(post(lp, [&text, i, here] {
        CHECK(std::this_thread::get_id() == here);
        text += std::to_string(i);
      }));
  }).join();
  post(lp, append, std::ref(text), "5");  // a string is made of the literal before it could be gone
  CHECK(text.empty());
  CHECK(lp.live() == 6);
  lp.run();
  CHECK(text == "012345");
  CHECK(lp.live() == 0);
}

TEST_CASE("a job takes what spawn takes: members, arguments that can only be moved") {
  loop lp;
  account own;
  int sum = 0;
  post(lp, &account::add, &own, 3);
  post(lp, [&sum](std::unique_ptr<int> n) { sum += *n; }, std::make_unique<int>(4));
  post(lp, [held = std::make_unique<int>(5), &sum] { sum += *held; });
  lp.run();
  CHECK(own.balance == 3);
  CHECK(sum == 9);
}

TEST_CASE("jobs and coroutines of a loop stand in one line") {
  loop lp;
  std::string text;
  post(lp, append, std::ref(text), "a");
  spawn(lp, [&text]() -> task<> { co_return static_cast<void>(text += "b"); });
  post(lp, append, std::ref(text), "c");
  lp.run();
  CHECK(text == "abc");
}

TEST_CASE("a job may post and spawn, and runs in the context of its target") {
  loop lp({.name = "shop"});
  event bell;
  std::string seen;
  post(lp, [&] {
    seen = current_context().name();
    post(lp, [&] { bell.set(); });
    spawn(lp, [&]() -> task<> {
      [[maybe_unused]] auto rang = co_await bell.wait();
      seen += "!";
    });
  });
  lp.run();
  CHECK(seen == "shop!");
}

TEST_CASE("any worker of a runtime runs jobs, whoever posts them") {
  for (std::size_t workers : worker_counts) {
    CAPTURE(workers);
    constexpr int each = 2000;
    std::atomic<int> done{0};
    hocket::runtime rt({.workers = workers});
    std::vector<std::thread> posters;
    for (int p = 0; p < 3; ++p)
      posters.emplace_back([&] {
        for (int i = 0; i < each; ++i) post(rt, [&done] { ++done; });
      });
    sync_wait(spawn(rt, [&]() -> task<> {
      for (int i = 0; i < each; ++i) post(rt, [&done] { ++done; });
      co_await yield();
    }));
    for (std::thread& one : posters) one.join();
    CHECK(rt.shutdown({.drain = std::chrono::seconds(60), .report = -1}).remaining == 0);
    CHECK(done == 4 * each);
  }
}

TEST_CASE("after a shutdown a job is refused and destroyed at once") {
  int gone = 0;
  bool ran = false;
  hocket::runtime rt({.workers = 1});
  rt.shutdown({.report = -1});
  CHECK(post(rt, [&ran, last = witness(gone)] { ran = true; }) == std::errc::operation_canceled);
  CHECK(gone == 1);
  CHECK_FALSE(ran);
}

TEST_CASE("a loop that is destroyed destroys the jobs that have not run") {
  int gone = 0;
  bool ran = false;
  {
    loop lp;
    post(lp, [&ran, last = witness(gone)] { ran = true; });
    CHECK(gone == 0);
  }
  CHECK(gone == 1);
  CHECK_FALSE(ran);
}

TEST_CASE("a scope waits for the jobs that were posted to it") {
  loop lp;
  int done = 0;
  auto give_out = [&](scope& all) -> task<> {
    for (int i = 0; i < 10; ++i) post(all, [&done] { ++done; });
    CHECK(done == 0);
    co_return;
  };
  auto body = [&]() -> task<> {
    co_await in_scope(give_out);
    CHECK(done == 10);
  };
  spawn(lp, body);
  lp.run();
  CHECK(done == 10);
}

TEST_CASE("an exception that leaves a job goes to on_unhandled, and its callable is destroyed") {
  unhandled.clear();
  int gone = 0;
  loop lp({.name = "shop", .on_unhandled = &note_unhandled});
  post(lp, [last = witness(gone)] { throw std::runtime_error("sold out"); });
  lp.run();
  CHECK(unhandled == "shop: sold out");
  CHECK(gone == 1);
  CHECK(lp.live() == 0);
}

TEST_CASE("a job that waits for a thread's way is fatal") {
  expect_fatal(
      [] {
        loop lp;
        event never;
        post(lp, [&] { static_cast<void>(sync_wait(never.wait())); });
        lp.run();
      },
      "sync_wait was called by a coroutine");
}

TEST_CASE("an exception of a copied argument is the caller's, and nothing is posted") {
  struct uncopied {
    uncopied() = default;
    uncopied(const uncopied&) { throw std::runtime_error("not copied"); }
  } argument;
  loop lp;
  CHECK_THROWS_AS(post(lp, [](const uncopied&) {}, argument), std::runtime_error);
  CHECK(lp.live() == 0);
}

TEST_CASE("a job takes 64 bytes more than its callable and arguments") {
  struct callable {
    char bytes[40];
    void operator()() const {}
  };
  CHECK(sizeof(detail::called_job<detail::spawned_call_for<callable>>) <= sizeof(callable) + 64);
  const auto nothing = [] {};
  CHECK(sizeof(detail::called_job<detail::spawned_call_for<decltype(nothing)>>) <= 64);
}
