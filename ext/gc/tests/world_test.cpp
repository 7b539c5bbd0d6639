// stop_world: no thread is inside while f runs, whatever the threads were doing.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/gc/world.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <latch>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;

namespace {

runtime_options registered(std::size_t workers) {
  return {.workers = workers, .on_start = gc::on_start, .on_stop = gc::on_stop};
}

// Code that runs inside counts its steps; no thread may count while the world is stopped.
struct steps {
  std::atomic<bool> stopped{false};
  std::atomic<int> wrong{0};
  std::atomic<std::size_t> done{0};
  void step() {
    if (stopped.load()) ++wrong;
    ++done;
  }
  // Whether anything moves meanwhile.
  void stop_for_a_while() {
    gc::stop_world([this](std::span<const stopped_thread>) {
      stopped = true;
      const std::size_t before = done;
      for (int i = 0; i < 2000; ++i) std::this_thread::yield();
      if (done != before) ++wrong;
      stopped = false;
    });
  }
};

}  // namespace

TEST_CASE("stop_world waits for coroutines that poll, and holds them until it is over") {
  steps all;
  std::atomic<bool> over{false};
  auto computes = [&] {
    while (!over) {
      all.step();
      gc::safepoint();
    }
  };
  {
    runtime rt(registered(2));
    auto fiber = spawn(rt, computes), other = spawn(rt, [&]() -> task<> {
                                        computes();
                                        co_return;
                                      });
    while (all.done == 0) std::this_thread::yield();
    for (int i = 0; i < 50; ++i) all.stop_for_a_while();
    over = true;
  }
  CHECK(all.wrong == 0);
}

TEST_CASE("a computation stops at the first safepoint after a stop was asked for") {
  std::atomic<bool> over{false};
  std::atomic<int> stops{0}, requests{0}, passed{0};
  {
    runtime rt(registered(1));
    auto computes = spawn(rt, [&] {
      while (!over) {
        const int before = stops;
        const bool is_asked = gc::detail::world_halt.is_stop_requested();  // for a stop that waits for this thread
        gc::safepoint();
        requests += is_asked;
        passed += is_asked && stops == before;
      }
    });
    while (requests < 100) gc::stop_world([&](std::span<const stopped_thread>) { ++stops; });
    over = true;
    sync_wait(computes);
  }
  CHECK(passed == 0);
}

TEST_CASE("coroutines that never poll stop where their worker has come back from them") {
  steps all;
  std::atomic<bool> over{false};
  {
    runtime rt(registered(2));
    std::vector<join_handle<>> some;
    for (int i = 0; i < 8; ++i)
      some.push_back(spawn(rt, [&] {
        while (!over) {
          all.step();
          await(yield());
        }
      }));
    while (all.done == 0) std::this_thread::yield();
    for (int i = 0; i < 50; ++i) all.stop_for_a_while();
    over = true;
  }
  CHECK(all.wrong == 0);
}

TEST_CASE("a thread that sleeps counts as stopped: a worker, a loop, a plain thread that waits, a blocking call") {
  gc::thread_scope scope;
  event never, begun;
  std::latch ready(1);
  runtime rt(registered(2));
  auto waits = spawn(rt, [&] { static_cast<void>(await(never.wait())); });
  auto blocks = spawn(rt, [&] {
    const auto ran = await(blocking([&] {
      gc::thread_scope there;
      begun.set();
      static_cast<void>(sync_wait(never.wait()));
    }));
    CHECK(ran.has_value());
  });
  std::thread looping([&] {
    gc::thread_scope there;
    loop own;
    auto waiting = spawn(own, [&] { static_cast<void>(await(never.wait())); });
    ready.count_down();
    own.run();
  });
  ready.wait();
  static_cast<void>(sync_wait(begun.wait()));
  std::size_t count = 0;
  while (count != 5) gc::stop_world([&](std::span<const stopped_thread> threads) { count = threads.size(); });
  int runs = 0;
  for (int i = 0; i < 100; ++i)
    gc::stop_world([&](std::span<const stopped_thread> threads) { runs += threads.size() == 5; });
  CHECK(runs == 100);
  never.set();
  looping.join();
  sync_wait(waits);
  sync_wait(blocks);
}

TEST_CASE("a sleeper that wakes up during a stop is held back until it is over") {
  steps all;
  event go;
  std::atomic<bool> was_set{false};
  runtime rt(registered(1));
  auto waits = spawn(rt, [&] {
    static_cast<void>(await(go.wait()));
    all.step();
  });
  gc::stop_world([&](std::span<const stopped_thread>) {
    all.stopped = true;
    std::thread([&] { go.set(); }).join();  // a thread that is not registered
    for (int i = 0; i < 2000; ++i) std::this_thread::yield();
    was_set = true;
    all.stopped = false;
  });
  sync_wait(waits);
  CHECK(all.wrong == 0);
  CHECK(was_set);
}

TEST_CASE("in native() a thread counts as stopped, and it is held back at its end") {
  steps all;
  std::latch inside(1), leave(1);
  std::thread other([&] {
    gc::thread_scope there;
    const int n = gc::native([&] {
      inside.count_down();
      leave.wait();
      return gc::native([] { return 7; });
    });
    all.step();
    CHECK(n == 7);
  });
  inside.wait();
  gc::stop_world([&](std::span<const stopped_thread> threads) {
    all.stopped = true;
    CHECK(threads.size() == 1);
    leave.count_down();
    for (int i = 0; i < 2000; ++i) std::this_thread::yield();
    all.stopped = false;
  });
  other.join();
  CHECK(all.wrong == 0);
  CHECK_THROWS_AS(gc::native([] { throw std::runtime_error("out"); }), std::runtime_error);
}

TEST_CASE("threads that stop the world at once take turns, and none waits for ever") {
  std::atomic<int> inside{0}, most{0}, runs{0};
  const auto stops = [&] {
    gc::thread_scope there;
    for (int i = 0; i < 200; ++i)
      gc::stop_world([&](std::span<const stopped_thread>) {
        const int now = ++inside;
        if (now > most) most = now;
        ++runs;
        --inside;
      });
  };
  std::thread first(stops), second(stops), third(stops);
  first.join();
  second.join();
  third.join();
  CHECK(most == 1);
  CHECK(runs == 600);
}

TEST_CASE("a coroutine stops the world, on a fiber and in a task") {
  runtime rt(registered(2));
  std::atomic<int> stops{0};
  const auto stop = [&] { gc::stop_world([&](std::span<const stopped_thread> all) { stops += !all.empty(); }); };
  std::vector<join_handle<>> some;
  for (int i = 0; i < 20; ++i) {
    some.push_back(spawn(rt, [&] {
      stop();
      await(yield());
      stop();
    }));
    some.push_back(spawn(rt, [&]() -> task<> {
      stop();
      co_await yield();
      stop();
    }));
  }
  for (auto& handle : some) sync_wait(handle);
  CHECK(stops == 80);
}

TEST_CASE("threads come and go while the world is stopped again and again") {
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::thread stopper([&] {
    while (!over)
      gc::stop_world([&](std::span<const stopped_thread> threads) {
        for (const stopped_thread& thread : threads) wrong += thread.stack_pointer == nullptr;
      });
  });
  for (int i = 0; i < 100; ++i) {
    runtime rt(registered(2));
    for (int k = 0; k < 4; ++k) static_cast<void>(spawn(rt, [] { await(yield()); }));
  }
  over = true;
  stopper.join();
  CHECK(wrong == 0);
}

TEST_CASE("an exception of f reaches the caller, and the threads run again") {
  gc::thread_scope scope;
  CHECK_THROWS_AS(gc::stop_world([](std::span<const stopped_thread>) { throw std::runtime_error("no room"); }),
                  std::runtime_error);
  gc::safepoint();
  int runs = 0;
  gc::stop_world([&](std::span<const stopped_thread>) { gc::safepoint(), ++runs; });
  CHECK(runs == 1);
}

TEST_CASE("a stop and a dump take turns") {
  runtime rt(registered(2));
  std::atomic<bool> over{false};
  auto polls = spawn(rt, [&] {
    while (!over) {
      gc::safepoint();
      await(yield());
    }
  });
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  std::thread reader([&] {
    char sink[4096];
    while (::read(ends[0], sink, sizeof sink) > 0) {
    }
  });
  std::thread dumps([&] {
    gc::thread_scope there;
    for (int i = 0; i < 20; ++i) rt.dump(ends[1]);
  });
  int runs = 0;
  for (int i = 0; i < 20; ++i) gc::stop_world([&](std::span<const stopped_thread>) { ++runs; });
  dumps.join();
  over = true;
  sync_wait(polls);
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  CHECK(runs == 20);
}

TEST_CASE("in a forked child only the thread that forked is registered") {
  gc::thread_scope scope;
  std::latch ready(1), leave(1);
  std::thread other([&] {
    gc::thread_scope there;
    ready.count_down();
    gc::native([&] { leave.wait(); });
  });
  ready.wait();
  const pid_t child = ::fork();
  if (child == 0) {
    std::size_t seen = 0;
    gc::stop_world([&](std::span<const stopped_thread> threads) { seen = threads.size(); });
    ::_exit(seen == 1 ? 0 : 1);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  leave.count_down();
  other.join();
}

TEST_CASE("a thread that has stopped the world forks, and the threads of both processes run again") {
  gc::thread_scope scope;
  int status = -1;
  bool in_child = false;
  gc::stop_world([&](std::span<const stopped_thread>) {
    const pid_t child = ::fork();
    in_child = child == 0;
    if (!in_child) ::waitpid(child, &status, 0);
  });
  gc::safepoint();
  gc::stop_world([](std::span<const stopped_thread>) {});
  if (in_child) ::_exit(0);
  CHECK(status == 0);
}

TEST_CASE("a pool and a runtime are destroyed while another thread stops the world") {
  gc::thread_scope scope;
  std::atomic<bool> over{false};
  std::atomic<int> ran{0};
  std::thread stops([&] {
    while (!over) gc::stop_world([](std::span<const stopped_thread>) {});
  });
  for (int i = 0; i < 50; ++i) {
    blocking_pool pool({.on_start = gc::on_start, .on_stop = gc::on_stop});
    runtime rt(
        {.workers = 2, .stall_limit = std::chrono::milliseconds(1), .on_start = gc::on_start, .on_stop = gc::on_stop});
    auto all = spawn(rt, [&] { CHECK(await(blocking(pool, [&] { ++ran; })).has_value()); });
    sync_wait(all);
  }
  over = true;
  gc::native([&] { stops.join(); });
  CHECK(ran == 50);
}

TEST_CASE("the frames of all stopped threads and fibers are found in the stacks that stop_world reports") {
  if (!can_enumerate_stacks()) return;
  gc::thread_scope scope;
  runtime rt(registered(2));
  constexpr std::uintptr_t mark = 0x5ca1ab1e0000;
  event go;
  std::atomic<int> ready{0};
  std::vector<join_handle<>> some;
  for (std::uintptr_t i = 0; i < 10; ++i)
    some.push_back(spawn(rt, [&, i] {
      volatile std::uintptr_t held = mark + i;
      ++ready;
      static_cast<void>(await(go.wait()));
      CHECK(held == mark + i);
    }));
  while (ready != 10) std::this_thread::yield();
  std::vector<bool> found(10);
  gc::stop_world([&](std::span<const stopped_thread> threads) {
    for_each_stack(threads, [&](const stack_range& range) {
      for (const std::byte* at = range.low; at + sizeof mark <= range.high; at += sizeof mark) {
        const std::uintptr_t word = *reinterpret_cast<const std::uintptr_t*>(at);
        if (word >= mark && word < mark + 10) found[word - mark] = true;
      }
    });
  });
  CHECK(std::count(found.begin(), found.end(), true) == 10);
  go.set();
  for (auto& handle : some) sync_wait(handle);
}
