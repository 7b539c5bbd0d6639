// What goes wrong beside collectors: small stacks, finalizers, threads that come and go, misuse.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/enumeration.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/fiber/stack_use.hpp>
#include <hocket/gc/native_stack.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "herd.hpp"
#include "support/death.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <latch>
#include <stdexcept>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using hocket_test::collect;
using hocket_test::herd;
using hocket_test::herd_size;
using hocket_test::object;

namespace {

constexpr runtime_options registered(std::size_t workers) {
  return {.workers = workers, .on_start = gc::boehm::on_start, .on_stop = gc::boehm::on_stop};
}

std::size_t small_stack() { return ::getauxval(AT_MINSIGSTKSZ) > 3072 ? 16384 : 8192; }

// Runs f on a thread that is registered.
template <class F>
void on_registered_thread(F f) {
  std::thread([&] {
    const gc::boehm::thread_scope scope;
    f();
  }).join();
}

}  // namespace

TEST_CASE("small stacks stand allocations and collections, which take little of them") {
  std::atomic<bool> over{false};
  std::thread collects([&] {
    const gc::boehm::thread_scope scope;
    while (!over) GC_gcollect();
  });
  std::atomic<std::size_t> broken{0};
  {
    runtime rt(registered(2));
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < 100; ++i)
      all.push_back(spawn(rt, {.stack_size = small_stack()}, [&, i] {
        for (int k = 0; k < 200; ++k) {
          auto* const held = static_cast<object*>(GC_MALLOC(sizeof(object)));
          held->mark = i;
          await(yield());
          if (held->mark != i) ++broken;
        }
      }));
    for (auto& handle : all) sync_wait(handle);
  }
  over = true;
  collects.join();
  CHECK(broken == 0);
}

TEST_CASE("finalizers run on demand alone, on the thread's own stack, also from a fiber") {
  static std::atomic<int> ran{0}, elsewhere{0};
  ran = elsewhere = 0;
  const auto finalize = [](void*, void*) {
    ++ran;
    // A fiber's stack is one of a slab; the thread's is none.
    elsewhere += stack_limit(__builtin_frame_address(0)) != nullptr;
    collect();  // a collection in a finalizer
  };
  const auto make_dead = [&] {
    for (int i = 0; i < 10; ++i) {
      void* const object = GC_MALLOC(64);
      GC_register_finalizer(object, finalize, nullptr, nullptr, nullptr);
    }
  };
  loop on;
  auto fiber = spawn(on, {.stack_size = 32768}, [&] {
    make_dead();
    collect();
    await(yield());
    CHECK(ran == 0);
    CHECK(gc::boehm::run_finalizers() >= 5);
  });
  on.run();
  CHECK(ran >= 5);
  make_dead();
  collect();
  gc::boehm::run_finalizers();
  CHECK(ran >= 10);
  CHECK(elsewhere == 0);
}

TEST_CASE("a call on the native stack returns, throws, and may be made from wherever a coroutine runs") {
  const auto is_native = [] { return stack_limit(__builtin_frame_address(0)) == nullptr; };
  loop on;
  int native = 0;
  auto fiber = spawn(on, [&] {
    CHECK_FALSE(is_native());
    native += gc::on_native_stack(is_native);
    call_on_big_stack([&] { native += gc::on_native_stack(is_native); });
    coroutine<void()> raw([&](auto&) { native += gc::on_native_stack(is_native); });
    raw.resume();
    CHECK_THROWS_AS(gc::on_native_stack([] { throw std::runtime_error("out"); }), std::runtime_error);
    native += gc::on_native_stack([&] { return gc::on_native_stack(is_native); });
    native += gc::on_native_stack([&] {
      volatile int mine = 7;  // above what the inner call may use
      const bool inner = call_on_big_stack([&] {
        return gc::on_native_stack([&] {
          hocket_test::scrub<20000>();
          return is_native();
        });
      });
      return inner && mine == 7;
    });
  });
  auto in_task = spawn(on, [&]() -> task<> {
    native += gc::on_native_stack(is_native);
    co_return;
  });
  on.run();
  coroutine<void()> raw([&](auto&) { native += gc::on_native_stack(is_native); });
  raw.resume();
  native += gc::on_native_stack(is_native);
  call_on_big_stack([&] { native += gc::on_native_stack(is_native); });
  CHECK(native == 9);
}

TEST_CASE("threads begin and end, and stacks are given back, while others collect") {
  std::atomic<bool> over{false};
  std::thread collects([&] {
    const gc::boehm::thread_scope scope;
    while (!over) {
      GC_gcollect();
      stack_depot::shared(65536).trim();
    }
  });
  std::atomic<std::size_t> broken{0};
  for (int i = 0; i < 30; ++i) {
    runtime rt(registered(2));
    for (int k = 0; k < 20; ++k)
      static_cast<void>(spawn(rt, [&, k] {
        auto* const held = static_cast<object*>(GC_MALLOC(sizeof(object)));
        held->mark = static_cast<std::uintptr_t>(k);
        await(yield());
        if (held->mark != static_cast<std::uintptr_t>(k)) ++broken;
      }));
    while (rt.live() != 0) std::this_thread::yield();
  }
  over = true;
  collects.join();
  CHECK(broken == 0);
}

TEST_CASE("threads of a blocking_pool are registered by its hooks") {
  blocking_pool pool({.on_start = gc::boehm::on_start, .on_stop = gc::boehm::on_stop});
  loop on;
  std::uintptr_t mark = 0;
  auto fiber = spawn(on, [&] {
    auto* const held = static_cast<object*>(GC_MALLOC(sizeof(object)));
    held->mark = 77;
    const auto done = await(blocking(pool, [] { collect(); }));
    CHECK(done.has_value());
    mark = held->mark;
  });
  on.run();
  CHECK(mark == 77);
}

TEST_CASE("more than 2,048 slabs of stacks are looked through") {
  constexpr std::size_t slabs = 2100;
  std::vector<std::unique_ptr<stack_pool>> pools;
  std::vector<coroutine<void()>> all;
  std::size_t broken = 0, slab_count = 0;
  for (std::size_t i = 0; i < slabs; ++i) {
    pools.push_back(std::make_unique<stack_pool>(stack_options{.stack_size = 16384, .protection = guard::canary}));
    all.emplace_back(*pools.back(), [i, &broken](auto& self) {
      auto* const held = static_cast<object*>(GC_MALLOC(sizeof(object)));
      held->mark = i;
      self.yield();
      broken += held->mark != i;
    });
    all.back().resume();
    slab_count += pools.back()->statistics().slabs;
  }
  CHECK(slab_count >= 2048);
  collect();
  for (std::size_t i = 0; i < 4 * slabs; ++i) static_cast<object*>(GC_MALLOC(sizeof(object)))->mark = ~i;
  for (auto& coroutine : all) coroutine.resume();
  CHECK(broken == 0);
}

TEST_CASE("a child by fork() collects, with what its thread's coroutines hold") {
  loop on;
  event go;
  bool intact = false;
  auto fiber = spawn(on, [&] {
    auto* const held = static_cast<object*>(GC_MALLOC(sizeof(object)));
    held->mark = 5;
    static_cast<void>(await(go.wait()));
    intact = held->mark == 5;
  });
  on.poll();
  std::latch ready(1), leave(1);
  std::thread other([&] {  // which is not in the child
    const gc::boehm::thread_scope scope;
    ready.count_down();
    leave.wait();
  });
  ready.wait();
  const pid_t child = ::fork();
  if (child == 0) {
    const std::size_t unknown = gc::boehm::statistics().unknown;
    collect();
    if (gc::boehm::statistics().unknown != unknown) ::_exit(2);
    for (int i = 0; i < 1000; ++i) static_cast<object*>(GC_MALLOC(sizeof(object)))->mark = 9;
    go.set();
    on.run();
    ::_exit(intact ? 0 : 1);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  leave.count_down();
  other.join();
  go.set();
  on.run();
}

namespace {
// A thread that libgc knows, and gc::boehm does not.
template <class F>
void on_thread_of_libgc(F f) {
  GC_allow_register_threads();
  std::thread([&] {
    GC_stack_base base{};
    GC_get_stack_base(&base);
    GC_register_my_thread(&base);
    f();
    GC_unregister_my_thread();
  }).join();
}
}  // namespace

TEST_CASE("a thread that libgc alone knows collects on its own stack, as it may while it is registered") {
  bool intact = false;
  on_thread_of_libgc([&] {
    object* const held = static_cast<object*>(GC_MALLOC(sizeof(object)));
    held->mark = 5;
    GC_gcollect();
    for (int i = 0; i < 1000; ++i) static_cast<object*>(GC_MALLOC(sizeof(object)))->mark = 9;
    intact = held->mark == 5;
  });
  CHECK(intact);
}

TEST_CASE("misuse is fatal, and named") {
  hocket_test::expect_fatal([] { gc::boehm::enter_thread(); }, "registered with gc::boehm twice");
  hocket_test::expect_fatal([] { std::thread([] { gc::boehm::leave_thread(); }).join(); }, "is not registered");
  hocket_test::expect_fatal(
      [] {
        stack_pool stacks;
        const auto stack = stacks.acquire();
        on_thread_of_libgc([&] { call_on_stack(*stack, [] { GC_gcollect(); }); });
      },
      "a thread that is not registered with gc::boehm collects on a stack of fibers");
  hocket_test::expect_fatal(
      [] {
        std::thread([] {
          loop on;
          static_cast<void>(spawn(on, []() -> task<> { co_return; }));
        }).join();
      },
      "not registered with gc::boehm makes a coroutine");
}

TEST_CASE("start() again does nothing") {
  gc::boehm::start();
  on_registered_thread([] { gc::boehm::start(); });
}
