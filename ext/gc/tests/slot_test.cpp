// Slots and roots: each coroutine finds its own, a collector finds all.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/gc/root.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

struct state {
  explicit state(int n) : number(n) {}
  int number;
};

runtime_options registered(std::size_t workers) {
  return {.workers = workers, .on_start = gc::on_start, .on_stop = gc::on_stop};
}

std::vector<int> numbers_of_all() {
  std::vector<int> seen;
  gc::stop_world([&](std::span<const stopped_thread>) {
    gc::for_each_slot<state>([&](state& slot) { seen.push_back(slot.number); });
  });
  std::sort(seen.begin(), seen.end());
  return seen;
}

int number_now() {
  state* const current = gc::current_slot<state>();
  return current ? current->number : -1;
}
task<int> number_in_task() { co_return number_now(); }

}  // namespace

TEST_CASE("each coroutine has its own slot, in a task and in a fiber, on whichever thread it resumes") {
  runtime rt(registered(2));
  std::atomic<int> wrong{0};
  std::vector<join_handle<>> some;
  for (int i = 0; i < 50; ++i) {
    some.push_back(spawn(rt, {.migratable = true}, [&wrong, i] {
      wrong += number_now() != -1;
      gc::slot<state> mine(i);
      for (int k = 0; k < 20; ++k) {
        await(yield());
        wrong += number_now() != i;
      }
    }));
    some.push_back(spawn(
        rt,
        [](std::atomic<int>& bad, int n) -> task<> {
          gc::slot<state> mine(n);
          for (int k = 0; k < 20; ++k) {
            co_await yield();
            bad += number_now() != n;
            bad += co_await number_in_task() != n;
          }
        },
        std::ref(wrong), 1000 + i));
  }
  for (auto& handle : some) sync_wait(handle);
  CHECK(wrong == 0);
}

TEST_CASE("a block sees the slot of the code around it; what is spawned and the children of a group do not") {
  runtime rt(registered(2));
  static context_local<int> bound;
  auto all = spawn(rt, [] {
    gc::slot<state> mine(7);
    const int in_block = bound.with(1, [] { return number_now(); });
    const int spawned = await(spawn([] { return number_now(); }));
    const auto [child, other] = await(when_all(number_in_task(), number_in_task()));
    return std::vector<int>{in_block, spawned, child, other, number_now()};
  });
  CHECK(sync_wait(all) == std::vector<int>{7, -1, -1, -1, 7});
  auto in_task = spawn(rt, []() -> task<std::vector<int>> {
    gc::slot<state> mine(8);
    const int in_block = co_await bound.with(1, number_in_task());
    const auto [child, other] = co_await when_all(number_in_task(), number_in_task());
    co_return std::vector<int>{in_block, child, other, number_now()};
  });
  CHECK(sync_wait(in_task) == std::vector<int>{8, -1, -1, 8});
}

TEST_CASE("slots nest, and the thread's own is seen in its plain code") {
  gc::thread_scope scope;
  CHECK(number_now() == -1);
  {
    gc::slot<state> outer(1);
    CHECK(number_now() == 1);
    {
      gc::slot<state> inner(2);
      CHECK(number_now() == 2);
    }
    CHECK(number_now() == 1);
  }
  CHECK(gc::current_slot<state>() == nullptr);
}

TEST_CASE("a stopped world shows every slot, and none of coroutines that have ended") {
  runtime rt(registered(2));
  event go;
  std::atomic<int> ready{0};
  std::vector<join_handle<>> some;
  for (int i = 0; i < 20; ++i)
    some.push_back(spawn(rt, [&, i] {
      gc::slot<state> mine(i);
      ++ready;
      static_cast<void>(await(go.wait()));
    }));
  while (ready != 20) std::this_thread::yield();
  const std::vector<int> seen = numbers_of_all();
  CHECK(seen.size() == 20);
  CHECK(seen.front() == 0);
  CHECK(seen.back() == 19);
  go.set();
  for (auto& handle : some) sync_wait(handle);
  CHECK(numbers_of_all().empty());
}

TEST_CASE("roots of coroutines and threads are found and may be changed; they end in any order") {
  gc::thread_scope scope;
  runtime rt(registered(2));
  event go;
  std::atomic<int> ready{0}, wrong{0};
  static int old_home[2], new_home[2];
  std::vector<join_handle<>> some;
  for (int i = 0; i < 20; ++i)
    some.push_back(spawn(rt, {.migratable = true}, [&] {
      gc::slot<state> mine(0);
      auto first = std::make_unique<gc::root<int>>(&old_home[0]);
      gc::root<int> second(&old_home[1]), nothing;
      gc::root<const int> constant(nullptr);
      gc::root<int> copy = second;
      first.reset();
      first = std::make_unique<gc::root<int>>(&old_home[0]);
      ++ready;
      static_cast<void>(await(go.wait()));
      wrong += first->get() != &new_home[0] || second.get() != &new_home[1] || copy.get() != &new_home[1] || nothing ||
               constant;
    }));
  gc::root<int> of_thread(&old_home[0]);
  while (ready != 20) std::this_thread::yield();
  int moved = 0;
  gc::stop_world([&](std::span<const stopped_thread>) {
    gc::for_each_root([&](void*& object) {
      object = new_home + (static_cast<int*>(object) - old_home);
      ++moved;
    });
  });
  CHECK(moved == 61);
  CHECK(of_thread.get() == &new_home[0]);
  go.set();
  for (auto& handle : some) sync_wait(handle);
  CHECK(wrong == 0);
}

// The value is whole while a collector can see it: a coroutine halts for the lock of all slots where it makes and where
// it destroys one.
TEST_CASE("a collector sees no value before its constructor has ended, and none whose destructor has begun") {
  struct fragile {
    std::vector<int> marks = std::vector<int>(3, 7);
    bool is_whole() const { return marks.size() == 3 && marks[0] == 7 && marks[2] == 7; }
    ~fragile() { marks.assign(1, 0); }
  };
  std::atomic<bool> enough{false};
  int stops = 0, seen = 0, broken = 0;
  runtime rt(registered(2));
  std::vector<join_handle<>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(spawn(rt, [&] {
      for (int k = 0; !enough; ++k) {
        gc::slot<fragile> mine;
        if (k % 64 == 0) await(yield());
      }
    }));
  for (; stops < 1'000 || seen < 1'000; ++stops)
    gc::stop_world([&](std::span<const stopped_thread>) {
      gc::for_each_slot<fragile>([&](fragile& slot) {
        ++seen;
        broken += !slot.is_whole();
      });
    });
  enough = true;
  for (auto& handle : all) sync_wait(handle);
  CHECK(broken == 0);
}

TEST_CASE("slots of several types: an enumeration visits the slots of one type") {
  gc::thread_scope scope;
  gc::slot<state> number(3);
  gc::slot<std::string> text("word");
  CHECK(*gc::current_slot<std::string>() == "word");
  std::string seen;
  gc::stop_world([&](std::span<const stopped_thread>) {
    gc::for_each_slot<std::string>([&](std::string& slot) { seen += slot; });
  });
  CHECK(seen == "word");
  CHECK(numbers_of_all() == std::vector<int>{3});
}

TEST_CASE("an enumeration of slots or roots while threads run is fatal, and names the coroutine that enumerates") {
  hocket_test::expect_fatal(
      [] {
        const gc::thread_scope registration;
        gc::for_each_slot<state>([](state&) {});
      },
      "gc::for_each_slot() was called while registered threads run");
  hocket_test::expect_fatal(
      [] {
        loop lp;
        const gc::thread_scope registration;
        spawn(lp, {.name = "early"}, [] { gc::for_each_root([](void*&) {}); });
        lp.run();
      },
      "early");
}

TEST_CASE("a thread that leaves twice, or before its slots and roots have ended, is fatal") {
  hocket_test::expect_fatal([] { gc::leave_thread(); }, "a thread left gc that is not registered");
  hocket_test::expect_fatal(
      [] {
        gc::enter_thread();
        gc::slot<state> number(3);
        gc::leave_thread();
      },
      "a thread left gc with slots or roots");
  hocket_test::expect_fatal(
      [] {
        gc::enter_thread();
        state seven(7);
        const gc::root<state> held(&seven);
        gc::leave_thread();
      },
      "a thread left gc with slots or roots");
}

TEST_CASE("an eager body of a fiber has no slot, so it may outlive that of its caller") {
  runtime rt(registered(1));
  CHECK(sync_wait(spawn(rt, [] {
          gc::slot<state> own(1);
          const auto body = []() -> eager_task<int> { co_return number_now(); };
          return await(body());
        })) == -1);
}
