// Task managers with fibers.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/time/within.hpp>

#include "suites/managed_world.hpp"

#include <functional>
#include <stdexcept>

namespace hocket_test {

struct managed_fibers {
  static constexpr hocket::detail::coroutine_kind kind = hocket::detail::coroutine_kind::fiber;

  static void stand(trace& t) {
    leaving here(t);
    auto passed = await(t.gate.wait());
    if (!passed) t.error = passed.error();
    ++t.returned;
  }

  static void stand_twice(trace& t) {
    leaving here(t);
    auto first = await(t.gate.wait());
    auto second = await(t.gate.wait());
    if (!first && !second) t.error = second.error();
  }

  static void stand_in_scope(trace& t) {
    scope all;
    spawn(all, stand, std::ref(t));
    static_cast<void>(await(all.join()));
  }

  static void insist(trace& t) {
    leaving here(t);
    await(or_throw(t.gate.wait()));
    ++t.returned;
  }

  static void go_on_in_scope(trace& t) {
    if (!await(t.gate.wait())) stand_in_scope(t);
  }

  static void insist_in_scope(trace& t) {
    scope all;
    spawn(all, insist, std::ref(t));
    static_cast<void>(await(all.join()));
  }

  static void clean_up_in_scope(trace& t) {
    if (await(t.gate.wait())) return;
    shielded([&] {
      scope all;
      spawn(all, stand, std::ref(t));
      all.cancel();
      static_cast<void>(await(all.join()));
    });
  }

  static void yield_when_stopped(trace& t) {
    static_cast<void>(await(t.gate.wait()));
    if (auto went_on = await(yield()); !went_on) t.error = went_on.error();
    ++t.gone;
  }

  static void stand_shielded(trace& t) {
    leaving here(t);
    auto passed = await(shielded(t.gate.wait()));
    if (passed) ++t.returned;
  }

  static void fail(trace& t) {
    leaving here(t);
    await(yield());
    throw std::runtime_error("failed");
  }

  static void wait_for(task_manager& tm, task_id id, trace& t) {
    leaving here(t);
    auto how = await(tm.wait(id));
    if (how) t.how = *how;
    else t.error = how.error();
    ++t.returned;
  }

  static void wait_for_itself(task_manager& tm, trace& t) {
    leaving here(t);
    auto how = await(tm.wait(tm.current()));
    if (!how) t.error = how.error();
  }

  static void receive(expectation<int>&& from, trace& t) {
    leaving here(t);
    auto reply = std::move(from);
    auto got = await(reply);
    if (got) t.reply = *got;
    else t.error = got.error();
    ++t.returned;
  }

  static void receive_within(expectation<int>&& from, duration limit, trace& t) {
    leaving here(t);
    auto reply = std::move(from);
    auto early = await(within(limit, reply.wait()));
    if (!early) t.error = early.error();
    auto got = await(reply);
    if (got) t.reply = *got;
    ++t.returned;
  }

  static void join(task_manager& tm, trace& t) {
    leaving here(t);
    auto joined = await(tm.join());
    if (!joined) t.error = joined.error();
    ++t.returned;
  }

  static void spawn_child(trace& t) {
    leaving here(t);
    spawn(stand, std::ref(t));
    await(yield());
    ++t.returned;
  }

  static void act_and_insist(std::function<void()> act, trace& t) {
    leaving here(t);
    act();
    await(or_throw(t.gate.wait()));
    ++t.returned;
  }

  static int give(trace& t, int n) {
    leaving here(t);
    await(or_throw(t.gate.wait()));
    return n;
  }

  static void ask_id(task_manager& tm, task_id& told) {
    await(yield());
    told = tm.current();
  }
};

}  // namespace hocket_test

#define HOCKET_MANAGED_KIND managed_fibers
#include "suites/expectation.hpp"
#include "suites/task_manager.hpp"
#include "suites/task_manager_ids.hpp"
#include "suites/task_manager_whole.hpp"
