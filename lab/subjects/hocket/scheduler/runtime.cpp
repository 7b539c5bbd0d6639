// hocket's runtime with one kind of coroutine: hocket-runtime-fiber, and hocket-runtime-task (LAB_TASK).
// hocket-runtime-packed: fibers that sleep are packed (LAB_HIBERNATED).
#include <hocket/core/spawn_batch.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "../kind.hpp"
#include "groups.hpp"
#include "scheduler/scheduler.hpp"

namespace {

using hocket::runtime;
using lab::coroutine;
using lab::load;

hocket::spawn_options options(const load& r) {
  hocket::spawn_options how{.stack_size = r.stack};
#ifdef LAB_HIBERNATED
  how.hibernate_after = std::chrono::milliseconds(50);
#endif
  return how;
}

// `count` coroutines, spawned by one of the runtime, which waits for all.
template <class Make>
coroutine spawn_all(runtime& rt, std::size_t count, Make make) {
  std::vector<hocket::join_handle<void>> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back(make(rt, i));
  for (auto& one : all) LAB_AWAIT(one);
  LAB_END;
}

template <class Make>
void all_on(runtime& rt, std::size_t count, Make make) {
  hocket::sync_wait(hocket::spawn(rt, [&rt, count, make] { return spawn_all(rt, count, make); }));
}

coroutine yielding(lab::gate& gate, std::size_t k) {
  gate.arrive();
  while (!gate.is_open()) LAB_AWAIT(hocket::yield());
  for (; k; --k) LAB_AWAIT(hocket::yield());
  gate.leave();
  LAB_END;
}

void yields(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  lab::gate gate;
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    gate.close(r.count);
    all_on(rt, r.count,
           [&](runtime& on, std::size_t) { return hocket::spawn(on, options(r), yielding, std::ref(gate), k); });
    return gate.wait();
  });
  r.emit_of(system, "yields", "ns", ns / static_cast<double>(r.count));
}

coroutine counting(std::uint64_t& counter) {
  ++counter;
  LAB_END;
}

coroutine one_by_one(runtime& rt, const load& r, std::size_t k, std::uint64_t& counter, double& ns) {
  const double begin = lab::now_ns();
  for (; k; --k) LAB_AWAIT(hocket::spawn(rt, options(r), counting, std::ref(counter)));
  ns = lab::now_ns() - begin;
  LAB_END;
}

void spawn_join(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    std::uint64_t counter = 0;
    double took = 0;
    hocket::sync_wait(hocket::spawn(rt, [&] { return one_by_one(rt, r, k, counter, took); }));
    if (counter != k) lab::fail("not every coroutine has run");
    return took;
  });
  r.emit_of(system, "spawn_join", "ns", ns);
}

coroutine job(lab::countdown& jobs) {
  jobs.done();
  LAB_END;
}

void post_outside(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  lab::post_outside(
      system, r, [&](lab::countdown& jobs) { static_cast<void>(hocket::spawn(rt, options(r), job, std::ref(jobs))); });
}

void post_outside_batch(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  lab::post_all_outside(system, "post_outside_batch", r, [&](lab::countdown& jobs, std::size_t count) {
    hocket::spawn_batch batch(rt);
    for (std::size_t i = 0; i < count; ++i) static_cast<void>(hocket::spawn(batch, options(r), job, std::ref(jobs)));
  });
}

struct court {
  hocket::auto_reset_event sides[2];
  std::size_t ways = 0;
  double ns = 0;
};

coroutine play(court& c, int me) {
  const double begin = lab::now_ns();
  for (std::size_t i = 0; i < c.ways / 2; ++i) {
    if (me == 0) c.sides[1].set();
    if (!LAB_AWAIT(c.sides[me].wait())) lab::fail("a wait has failed");
    if (me == 1) c.sides[0].set();
  }
  if (me == 0) c.ns = lab::now_ns() - begin;
  LAB_END;
}

void ping_pong(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  const double ns = lab::median_of_some(r.budget_ns, [&] {
    court c;
    c.ways = r.count;
    all_on(rt, 2, [&](runtime& on, std::size_t i) {
      return hocket::spawn(on, options(r), play, std::ref(c), 1 - static_cast<int>(i));
    });
    return c.ns;
  });
  r.emit_of(system, "ping_pong", "ns", ns / static_cast<double>(r.count));
}

// A sleep is a wait for an event that nobody sets. It is not the sleeper's own: a fiber does not hibernate while it
// waits for something on its stack.
coroutine sleeper(std::chrono::nanoseconds time, hocket::event& never, std::atomic<std::size_t>& begun,
                  lab::countdown& ended) {
  begun.fetch_add(1, std::memory_order_relaxed);
  auto woken = LAB_AWAIT(hocket::within(time, never.wait()));
  if (woken.has_value() || woken.error() != std::errc::timed_out) lab::fail("a sleep was no sleep");
  ended.done();
  LAB_END;
}

// Static, since those that sleep for hours outlive what is measured.
std::atomic<std::size_t> begun;
lab::countdown awake;
hocket::event nobody_sets;

void sleep_far(runtime& rt, const load& r, std::size_t count) {
  hocket::sync_wait(hocket::spawn(rt, [&]() -> coroutine {
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<void>(
          hocket::spawn(rt, options(r), sleeper, lab::far(i), std::ref(nobody_sets), std::ref(begun), std::ref(awake)));
    }
    LAB_END;
  }));
  while (begun != count) lab::sleep_ms(1);
}

// Each has an event of its own, so that they do not meet there when their times have come.
void timer_expire(const char* system, const load& r) {
  lab::slots<hocket::event> events(r.count);
  for (std::size_t i = 0; i < r.count; ++i) events.put(i, [] { return hocket::event(); });
  runtime rt({.workers = r.workers});
  const double ns = lab::second_time([&] {
    awake.begin(r.count);
    hocket::sync_wait(hocket::spawn(rt, [&]() -> coroutine {
      for (std::size_t i = 0; i < r.count; ++i) {
        static_cast<void>(hocket::spawn(rt, options(r), sleeper, lab::near(i, r.count), std::ref(events[i]),
                                        std::ref(begun), std::ref(awake)));
      }
      LAB_END;
    }));
    awake.wait();
  });
  r.emit_of(system, "timer_expire", "ns", ns / static_cast<double>(r.count));
}

void sleeping(const char* system, const load& r) {
  runtime rt({.workers = 2});
  const double before = lab::held_bytes();
  sleep_far(rt, r, r.n);
  const double grown = lab::settled_bytes() - before;
  r.emit_of(system, "sleeping", "B", grown / static_cast<double>(r.n));
  lab::leave();
}

void wake(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  lab::wake(system, r, [&](double& ran) {
    static_cast<void>(hocket::spawn(rt, options(r), [&ran]() -> coroutine {
      lab::note_now(ran);
      LAB_END;
    }));
  });
}

coroutine computing(double ms, lab::countdown& ended) {
  lab::compute_ms(ms);
  ended.done();
  LAB_END;
}

void spread(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  static lab::countdown ended;  // as in post_all_outside()
  const double ns = lab::median_of_some(r.budget_ns, [&] {
    ended.begin(r.count);
    const double begin = lab::now_ns();
    const auto spawner = hocket::spawn(rt, options(r), [&]() -> coroutine {
      for (std::size_t i = 0; i < r.count; ++i)
        static_cast<void>(hocket::spawn(rt, options(r), computing, 1.0, std::ref(ended)));
      lab::compute_ms(20);
      LAB_END;
    });
    ended.wait();
    return lab::now_ns() - begin;
  });
  r.emit_of(system, "spread", "ms", ns / 1e6);
}

coroutine napping(std::size_t me, lab::late_naps& late) {
  while (!late.over) {
    const double begin = lab::now_ns();
    LAB_AWAIT(hocket::sleep_for(std::chrono::milliseconds(1)));
    late.note(me, begin);
  }
  LAB_END;
}

coroutine stuck(lab::late_naps& late) {
  LAB_AWAIT(hocket::sleep_for(std::chrono::milliseconds(5)));
  lab::compute_ms(lab::stuck_ms);
  late.over = true;
  LAB_END;
}

// Fibers that may go on elsewhere.
void beside_stuck(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  hocket::spawn_options how = options(r);
  how.migratable = true;
  lab::late_naps late(r.count);
  all_on(rt, r.count + 1, [&](runtime& on, std::size_t i) {
    return i == r.count ? hocket::spawn(on, how, stuck, std::ref(late))
                        : hocket::spawn(on, how, napping, i, std::ref(late));
  });
  late.emit(system, r);
}

void idle(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  lab::idle(system, r);
}

#ifdef LAB_TASK
void timer_cancel(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  lab::cancel_timers(system, r, rt);
}

void timer_cancel_1e6(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  sleep_far(rt, r, r.count);
  lab::cancel_timers(system, r, rt);
  lab::leave();
}
#endif

constexpr lab::named_load loads[] = {
    {"yields", yields},
    {"spawn_join", spawn_join},
    {"post_outside", post_outside},
    {"post_outside_batch", post_outside_batch},
    {"ping_pong", ping_pong},
    {"timer_expire", timer_expire},
    {"sleeping", sleeping},
    {"wake", wake},
    {"spread", spread},
    {"beside_stuck", beside_stuck},
    {"idle", idle},
#ifdef LAB_TASK
    {"when_all_10000", lab::together},
    {"timer_cancel", timer_cancel},
    {"timer_cancel_1e6", timer_cancel_1e6},
#endif
};

}  // namespace

int main(int argc, char** argv) { return lab::run_load(LAB_SYSTEM, argc, argv, loads); }
