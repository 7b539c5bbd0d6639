// Keep and drop. Of 1,000 objects that only coroutines hold all survive a collection; at most 10 do when they are held
// no more, and when the coroutines have ended. FAULT 36: a suspended fiber is the only one that holds an object.
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/event.hpp>

#include "herd.hpp"

#include <atomic>
#include <deque>
#include <doctest/doctest.h>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <vector>
#include <vector_registers.hpp>

using namespace hocket;
using hocket_test::collect;
using hocket_test::herd;
using hocket_test::herd_size;
using hocket_test::object;
using hocket_test::scrub;

namespace {

enum class collects { main, fiber, thread };

// The objects, two moments that their holders wait for, and the loop on which they run.
struct scene {
  herd objects;
  event drop, end;
  loop on;
  std::size_t broken = 0;

  void use(const object* held, std::size_t i) noexcept { broken += !herd::is_intact(held, i); }
  void wait(event& moment) { static_cast<void>(await(moment.wait())); }

  // Runs what is ready.
  [[gnu::noinline]] void settle() {
    while (on.poll()) {
    }
  }
  [[gnu::noinline]] std::size_t survivors(collects where) {
    settle();
    scrub();
    if (where == collects::main) {
      collect();
    } else if (where == collects::fiber) {
      auto collector = spawn(on, [] { collect(); });
      settle();
    } else {
      std::atomic<bool> over{false};
      std::thread other([&] {
        const gc::boehm::thread_scope registered;
        hocket_test::scrub<65536>();  // the stack may be one of a thread that has collected before
        collect();
        over = true;
      });
      hocket_test::clear_vector_registers();  // it is interrupted in there
      while (!over) std::this_thread::yield();
      other.join();
    }
    return objects.alive();
  }
};

// What all holders on stacks do.
[[gnu::noinline]] void hold_until_dropped(scene& in, std::size_t i) {
  object* const held = in.objects.make(i);
  in.wait(in.drop);
  in.use(held, i);
}
[[gnu::noinline]] void hold_and_drop(scene& in, std::size_t i) {
  hold_until_dropped(in, i);
  scrub();
  in.wait(in.end);
}

template <class Self>
[[gnu::noinline]] void hold_until_resumed(Self& self, scene& in, std::size_t i) {
  object* const held = in.objects.make(i);
  self.yield();
  in.use(held, i);
}

// start(scene, i): makes the coroutine that holds object i; what it gives is kept to the end.
template <class Start>
void check_survivors(Start start, collects where) {
  scene in;
  std::deque<decltype(start(in, std::size_t{0}))> all;
  GC_disable();
  for (std::size_t i = 0; i < herd_size; ++i) all.push_back(start(in, i));
  in.settle();
  GC_enable();
  CHECK(in.survivors(where) == herd_size);
  CHECK(in.survivors(where) == herd_size);
  in.drop.set();
  CHECK(in.survivors(where) <= 10);
  in.end.set();
  in.settle();
  all.clear();
  CHECK(in.survivors(where) <= 10);
  CHECK(in.broken == 0);
  CHECK(in.on.live() == 0);
}

template <class Start>
void check_survivors(Start start) {
  for (const collects where : {collects::main, collects::fiber, collects::thread}) check_survivors(start, where);
}

auto fibers(spawn_options options) {
  return [options](scene& in, std::size_t i) { return spawn(in.on, options, hold_and_drop, std::ref(in), i); };
}

}  // namespace

TEST_CASE("FAULT 36: what only a suspended fiber holds survives, on its own stack") {
  check_survivors(fibers({.stack_size = 32768}));
}

TEST_CASE("on dense stacks") { check_survivors(fibers({.stack_size = 16384, .stack = stack_kind::dense})); }

TEST_CASE("on copied stacks, which are images while their fibers wait") {
  check_survivors(fibers({.stack_size = 32768, .stack = stack_kind::copied}));
}

TEST_CASE("without the roots that hocket reports, everything is lost: the control") {
  scene in;
  std::vector<join_handle<>> all;
  GC_disable();
  for (std::size_t i = 0; i < herd_size; ++i)
    all.push_back(spawn(in.on, [&in, i] {
      [[maybe_unused]] object* volatile held = in.objects.make(i);
      in.wait(in.drop);
    }));
  in.settle();
  GC_enable();
  const GC_push_other_roots_proc ours = GC_get_push_other_roots();
  GC_set_push_other_roots(hocket_test::roots_of_libgc);
  CHECK(in.survivors(collects::main) <= herd_size - 990);
  GC_set_push_other_roots(ours);
  in.drop.set();
  in.settle();
}

TEST_CASE("hibernated, the frames are found where they were packed") {
  std::deque<coroutine<void()>> all;
  scene in;
  GC_disable();
  stack_pool pool({.protection = guard::required});
  for (std::size_t i = 0; i < herd_size; ++i) {
    all.emplace_back(pool, [&in, i](auto& self) {
      hold_until_resumed(self, in, i);
      scrub();
      self.yield();
    });
    all.back().resume();
    REQUIRE(hibernate(all.back()));
  }
  GC_enable();
  CHECK(in.survivors(collects::main) == herd_size);
  for (auto& coroutine : all) coroutine.resume();
  for (auto& coroutine : all) REQUIRE(hibernate(coroutine));
  CHECK(in.survivors(collects::main) <= 10);
  for (auto& coroutine : all) coroutine.resume();
  all.clear();
  CHECK(in.broken == 0);
  CHECK(in.survivors(collects::main) <= 10);
}

namespace {

// Object i in the caller's frame, or in that of the call.
[[gnu::noinline]] void hold_beside_call(scene& in, std::size_t i) {
  object* const above = i % 2 ? in.objects.make(i) : nullptr;
  stack_pool other({.stack_size = 65536});
  const auto stack = other.acquire();
  call_on_stack(*stack, [&] {
    if (above) in.wait(in.drop);
    else hold_until_dropped(in, i);
  });
  if (above) in.use(above, i);
  other.release(*stack);
}

}  // namespace

TEST_CASE("above a call on another stack, and below it") {
  check_survivors([](scene& in, std::size_t i) {
    return spawn(in.on, {.stack_size = 16384}, [&in, i] {
      hold_beside_call(in, i);
      scrub();
      in.wait(in.end);
    });
  });
}

TEST_CASE("in raw coroutines that a thread resumes, and in those that a fiber resumes") {
  check_survivors([](scene& in, std::size_t i) {
    return spawn(in.on, {.stack_size = 16384}, [&in, i] {
      coroutine<void()> raw([&](auto& self) {
        hold_until_resumed(self, in, i);
        scrub();
        self.yield();
      });
      raw.resume();
      in.wait(in.drop);
      raw.resume();
      scrub();
      in.wait(in.end);
    });
  });
  std::deque<coroutine<void()>> all;
  scene in;
  for (std::size_t i = 0; i < herd_size; ++i) {
    all.emplace_back([&in, i](auto& self) {
      object* const held = in.objects.make(i);
      self.yield();
      in.use(held, i);
    });
    all.back().resume();
  }
  CHECK(in.survivors(collects::thread) == herd_size);
  for (auto& coroutine : all) coroutine.resume();
  CHECK(in.broken == 0);
  all.clear();
  CHECK(in.survivors(collects::main) <= 10);
}

TEST_CASE("the one that runs, its resumers, and the thread below them, while it collects itself") {
  scene in;
  object* const of_thread = in.objects.make(0);
  coroutine<void()> outer([&](auto&) {
    object* const held = in.objects.make(1);
    coroutine<void()> inner([&](auto&) {
      object* const deeper = in.objects.make(2);
      call_on_big_stack([&] {
        object* const deepest = in.objects.make(3);
        collect();
        in.use(deepest, 3);
      });
      in.use(deeper, 2);
    });
    inner.resume();
    in.use(held, 1);
  });
  outer.resume();
  in.use(of_thread, 0);
  CHECK(in.broken == 0);
}

namespace {

task<> hold_in_frame(scene& in, std::size_t i) {
  object* const held = in.objects.make(i);
  static_cast<void>(co_await in.drop.wait());
  in.use(held, i);
}
// The frame that held it is destroyed then.
task<> hold_in_small_frame(scene& in, std::size_t i) {
  co_await hold_in_frame(in, i);
  static_cast<void>(co_await in.end.wait());
}
task<> hold_in_large_frame(scene& in, std::size_t i) {
  object* held[400];
  held[i % 400] = in.objects.make(i);
  static_cast<void>(co_await in.drop.wait());
  in.use(held[i % 400], i);
  held[i % 400] = nullptr;
  static_cast<void>(co_await in.end.wait());
}

}  // namespace

TEST_CASE("in the frames of tasks, small and large; a destroyed frame holds nothing") {
  check_survivors([](scene& in, std::size_t i) { return spawn(in.on, hold_in_large_frame, std::ref(in), i); });
  check_survivors([](scene& in, std::size_t i) { return spawn(in.on, hold_in_small_frame, std::ref(in), i); });
}

TEST_CASE("in closures and arguments of fibers and tasks that have not begun") {
  scene in;
  std::vector<join_handle<>> all;
  GC_disable();
  for (std::size_t i = 0; i < herd_size; ++i) {
    if (i % 3 == 0) all.push_back(spawn(in.on, [&in, i, held = in.objects.make(i)] { in.use(held, i); }));
    else if (i % 3 == 1) all.push_back(spawn(in.on, [&in, i](object* held) { in.use(held, i); }, in.objects.make(i)));
    else
      all.push_back(spawn(
          in.on,
          [&in, i](object* held) -> task<> {
            in.use(held, i);
            co_return;
          },
          in.objects.make(i)));
  }
  GC_enable();
  scrub();
  collect();
  CHECK(in.objects.alive() == herd_size);
  in.settle();
  all.clear();
  CHECK(in.broken == 0);
  CHECK(in.survivors(collects::main) <= 10);
}

TEST_CASE("in results that nobody has joined yet") {
  scene in;
  std::vector<join_handle<object*>> all;
  for (std::size_t i = 0; i < herd_size; ++i) {
    if (i % 2) all.push_back(spawn(in.on, [&in, i] { return in.objects.make(i); }));
    else all.push_back(spawn(in.on, [&in, i]() -> task<object*> { co_return in.objects.make(i); }));
  }
  CHECK(in.survivors(collects::main) == herd_size);
  all.clear();
  CHECK(in.survivors(collects::main) <= 10);
}

TEST_CASE("in items of channels, with room and without end") {
  for (const bool bounded : {true, false}) {
    scene in;
    std::optional<channel<object*>> items;
    if (bounded) items.emplace(herd_size);
    else items.emplace(channel<object*>::unbounded);
    for (std::size_t i = 0; i < herd_size; ++i) REQUIRE(items->try_send(in.objects.make(i)));
    CHECK(in.survivors(collects::main) == herd_size);
    for (std::size_t i = 0; i < herd_size; ++i) in.use(*items->try_receive(), i);
    items.reset();
    CHECK(in.broken == 0);
    CHECK(in.survivors(collects::main) <= 10);
  }
}

namespace {
struct thrown {
  object* held;
};
}  // namespace

TEST_CASE("in exceptions that are caught, and kept") {
  check_survivors([](scene& in, std::size_t i) {
    return spawn(in.on, {.stack_size = 32768}, [&in, i] {
      try {
        throw thrown{in.objects.make(i)};
      } catch (const thrown& caught) {
        scrub();
        in.wait(in.drop);
        in.use(caught.held, i);
      }
      scrub();
      in.wait(in.end);
    });
  });
  scene in;
  std::vector<std::exception_ptr> exceptions(herd_size);
  const auto fail = [&](std::size_t i) { exceptions[i] = std::make_exception_ptr(thrown{in.objects.make(i)}); };
  for (std::size_t i = 0; i < herd_size; ++i) fail(i);
  CHECK(in.survivors(collects::main) == herd_size);
  exceptions.clear();
  CHECK(in.survivors(collects::main) <= 10);
}
