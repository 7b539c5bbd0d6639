// Task managers with tasks; with fibers in stackful/.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/time/within.hpp>

#include "suites/converted_arguments.hpp"
#include "suites/managed_world.hpp"

#include <functional>
#include <stdexcept>

namespace hocket_test {

struct managed_tasks {
  static constexpr detail::coroutine_kind kind = detail::coroutine_kind::task;

  static task<> stand(trace& t) {
    leaving here(t);
    auto passed = co_await t.gate.wait();
    if (!passed) t.error = passed.error();
    ++t.returned;
  }

  static task<> stand_twice(trace& t) {
    leaving here(t);
    auto first = co_await t.gate.wait();
    auto second = co_await t.gate.wait();
    if (!first && !second) t.error = second.error();
  }

  static task<> stand_in_scope(trace& t) {
    auto body = [&t](scope& all) -> task<> {
      spawn(all, stand, std::ref(t));
      co_return;
    };
    co_await in_scope(body);
  }

  static task<> insist(trace& t) {
    leaving here(t);
    co_await or_throw(t.gate.wait());
    ++t.returned;
  }

  static task<> go_on_in_scope(trace& t) {
    auto passed = co_await t.gate.wait();
    if (!passed) co_await stand_in_scope(t);
  }

  static task<> insist_in_scope(trace& t) {
    auto body = [&t](scope& all) -> task<> {
      spawn(all, insist, std::ref(t));
      co_return;
    };
    co_await in_scope(body);
  }

  static task<> cancel_in_scope(trace& t) {
    auto body = [&t](scope& all) -> task<> {
      spawn(all, stand, std::ref(t));
      all.cancel();
      co_return;
    };
    co_await in_scope(body);
  }
  static task<> clean_up_in_scope(trace& t) {
    auto passed = co_await t.gate.wait();
    if (!passed) co_await shielded(cancel_in_scope(t));
  }

  static task<> yield_when_stopped(trace& t) {
    static_cast<void>(co_await t.gate.wait());
    if (auto went_on = co_await yield(); !went_on) t.error = went_on.error();
    ++t.gone;
  }

  static task<> stand_shielded(trace& t) {
    leaving here(t);
    auto passed = co_await shielded(t.gate.wait());
    if (passed) ++t.returned;
  }

  static task<> fail(trace& t) {
    leaving here(t);
    co_await yield();
    throw std::runtime_error("failed");
  }

  static task<> wait_for(task_manager& tm, task_id id, trace& t) {
    leaving here(t);
    auto how = co_await tm.wait(id);
    if (how) t.how = *how;
    else t.error = how.error();
    ++t.returned;
  }

  static task<> wait_for_itself(task_manager& tm, trace& t) {
    leaving here(t);
    auto how = co_await tm.wait(tm.current());
    if (!how) t.error = how.error();
  }

  static task<> receive(expectation<int>&& from, trace& t) {
    leaving here(t);
    auto reply = std::move(from);
    auto got = co_await reply;
    if (got) t.reply = *got;
    else t.error = got.error();
    ++t.returned;
  }

  static task<> receive_within(expectation<int>&& from, duration limit, trace& t) {
    leaving here(t);
    auto reply = std::move(from);
    auto early = co_await within(limit, reply.wait());
    if (!early) t.error = early.error();
    auto got = co_await reply;
    if (got) t.reply = *got;
    ++t.returned;
  }

  static task<> join(task_manager& tm, trace& t) {
    leaving here(t);
    auto joined = co_await tm.join();
    if (!joined) t.error = joined.error();
    ++t.returned;
  }

  static task<> spawn_child(trace& t) {
    leaving here(t);
    spawn(stand, std::ref(t));
    co_await yield();
    ++t.returned;
  }

  static task<> act_and_insist(std::function<void()> act, trace& t) {
    leaving here(t);
    act();
    co_await or_throw(t.gate.wait());
    ++t.returned;
  }

  static task<int> give(trace& t, int n) {
    leaving here(t);
    co_await or_throw(t.gate.wait());
    co_return n;
  }

  static task<> ask_id(task_manager& tm, task_id& told) {
    co_await yield();
    told = tm.current();
  }
};

}  // namespace hocket_test

#define HOCKET_MANAGED_KIND managed_tasks
#include "suites/expectation.hpp"
#include "suites/task_manager.hpp"
#include "suites/task_manager_ids.hpp"
#include "suites/task_manager_whole.hpp"

TEST_CASE("an expectation that loses in a group has its reply for whoever asks next") {
  using namespace hocket_test;
  managed_world w;
  task_manager tm(w.lp);
  auto one = tm.expect<int>(), two = tm.expect<int>();
  auto whole = spawn(w.lp, [&]() -> task<> { CHECK((co_await when_any(one, two)).index() == 0); });
  for (int i = 0; i < 10; ++i) w.lp.step();
  CHECK_FALSE(tm.complete(one.id(), 1));
  CHECK_FALSE(tm.complete(two.id(), 2));
  w.run();
  CHECK(whole.done());
  CHECK(*sync_wait(two) == 2);
}

TEST_CASE("a manager stores what an argument is converted to") {
  using namespace hocket_test;
  managed_world w;
  task_manager tm(w.lp);
  auto one = spawn(tm, read_later, "literal"), two = spawn(tm, {.name = "named"}, generic, 1, "generic");
  w.run();
  CHECK(sync_wait(one) == "literal");
  CHECK(sync_wait(two) == "generic");
}
