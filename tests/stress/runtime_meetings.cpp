// Barriers, shared mutexes, latches and work that is done once by brute force, on 1 to 8 workers: waits of both kinds
// of coroutines end by grants, by deadlines of 0 to 50 us, by cancels and kills from outside. Parties of a barrier stay
// in step, a writer is alone, the work is done once, and the waiter for a latch may destroy it.
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/barrier.hpp>
#include <hocket/sync/latch.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "stress/races.hpp"

using namespace hocket_test;

namespace {

constexpr bool quick = detail::sanitizer != detail::sanitizer_kind::plain || detail::conforming_mode;
constexpr int rounds = quick ? 40 : 100;
constexpr std::size_t crowd = 8;

// Calls round(runtime, random) again and again, on runtimes of each size.
template <class Round>
void in_rounds(Round one_round) {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  for (const std::size_t workers : {1u, 2u, 4u, 8u}) {
    CAPTURE(workers);
    hocket::runtime rt(runtime_options{.workers = workers});
    for (int i = 0; i < rounds; ++i) one_round(rt, random);
  }
}

void wait_for(const std::vector<join_handle<>>& all) {
  for (auto& one : all) {
    while (!one.done()) std::this_thread::yield();
  }
}

// --- a barrier: after a time-out a party arrives again; all are in step

constexpr int phases = 40;

struct march {
  barrier line{crowd};
  std::atomic<int> come[phases]{};
  std::atomic<int> lasts{0};
  std::atomic<int> out_of_step{0};

  void passed(int phase, barrier::arrival met) {
    if (met.last) ++lasts;
    if (come[phase] != static_cast<int>(crowd)) ++out_of_step;
  }
};

void march_in_fiber(march& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int phase = 0; phase < phases; ++phase) {
    ++in.come[phase];
    for (int tries = 0;; ++tries) {
      auto met =
          tries < 5 ? await(within(short_time(random), in.line.arrive_and_wait())) : await(in.line.arrive_and_wait());
      if (!met) continue;
      in.passed(phase, *met);
      break;
    }
  }
}
task<> march_in_task(march& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int phase = 0; phase < phases; ++phase) {
    ++in.come[phase];
    for (int tries = 0;; ++tries) {
      const duration limit = tries < 5 ? short_time(random) : duration::max();
      auto met = co_await within(limit, in.line.arrive_and_wait());
      if (!met) continue;
      in.passed(phase, *met);
      break;
    }
  }
}

// --- a shared mutex

struct shelf {
  shared_mutex m;
  std::atomic<int> writers{0}, readers{0}, wrong{0};
  long left = 0, right = 0;

  void write() {
    if (writers.fetch_add(1) != 0 || readers != 0) ++wrong;
    ++left;
    ++right;
    --writers;
  }
  void read() {
    ++readers;
    if (writers != 0 || left != right) ++wrong;
    --readers;
  }
};

void use_shelf_in_fiber(shelf& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < 50; ++i) {
    if (random.below(3) == 0) {
      auto held = await(within(short_time(random), in.m.lock()));
      if (held) in.write();
    } else {
      auto held = await(within(short_time(random), in.m.lock_shared()));
      if (held) in.read();
      if (held && random.below(4) == 0) await(yield());
    }
  }
}
task<> use_shelf_in_task(shelf& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < 50; ++i) {
    if (random.below(3) == 0) {
      auto held = co_await within(short_time(random), in.m.lock());
      if (held) in.write();
      if (held && random.below(4) == 0) {
        co_await yield();
        in.write();
      }
    } else {
      auto held = co_await in.m.lock_shared();
      if (held) in.read();
    }
  }
}

// --- a once: its first turns fail

struct founding {
  once all;
  std::atomic<int> wrong{0}, done{0}, fails{0};
  int made = 0;

  void work(once::turn& turn, bool fail) {
    if (made != 0) ++wrong;
    if (fail) {
      ++fails;
      return;
    }
    made = 7;
    ++done;
    turn.done();
  }
  void use() {
    if (made != 7) ++wrong;
  }
};

void found_in_fiber(founding& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < 4; ++i) {
    auto turn = await(within(short_time(random), in.all.enter()));
    if (!turn) continue;
    if (*turn) in.work(*turn, random.below(4) != 0);
    else in.use();
  }
}
task<> found_in_task(founding& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  auto turn = co_await in.all.enter();
  if (!turn) co_return;
  if (*turn) {
    if (random.below(2) == 0) co_await yield();
    in.work(*turn, random.below(3) != 0);
  } else {
    in.use();
  }
}

}  // namespace

TEST_CASE("parties of a barrier stay in step, though their waits time out") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    march in;
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < crowd; ++i) {
      const std::uint64_t own = random();
      if (i % 2 == 0) all.push_back(spawn(rt, march_in_fiber, std::ref(in), own));
      else all.push_back(spawn(rt, march_in_task, std::ref(in), own));
    }
    wait_for(all);
    REQUIRE(in.out_of_step == 0);
    REQUIRE(in.lasts == phases);
  });
}

TEST_CASE("a shared mutex has one writer or many readers, though waits time out and holders are killed") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    shelf in;
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < crowd; ++i) {
      const std::uint64_t own = random();
      if (i % 2 == 0) all.push_back(spawn(rt, use_shelf_in_fiber, std::ref(in), own));
      else all.push_back(spawn(rt, use_shelf_in_task, std::ref(in), own));
    }
    for (int i = 0; i < 3; ++i) all[random.below(crowd)].kill();
    static_cast<void>(sync_wait(within(short_time(random), in.m.lock())));
    wait_for(all);
    REQUIRE(in.wrong == 0);
    REQUIRE(in.left == in.right);
    REQUIRE(static_cast<bool>(in.m.try_lock()));
  });
}

TEST_CASE("what is done once is done once, though turns fail, waits time out and holders are killed") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    founding in;
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < crowd; ++i) {
      const std::uint64_t own = random();
      if (i % 2 == 0) all.push_back(spawn(rt, found_in_fiber, std::ref(in), own));
      else all.push_back(spawn(rt, found_in_task, std::ref(in), own));
    }
    all[random.below(crowd)].kill();
    all[random.below(crowd)].cancel();
    wait_for(all);
    REQUIRE(in.wrong == 0);
    REQUIRE(in.done == (in.all.is_done() ? 1 : 0));
    auto last = sync_wait(in.all.enter());  // nobody has taken the turn along
    REQUIRE(last.has_value());
    REQUIRE(static_cast<bool>(*last) == (in.done == 0));
  });
}

TEST_CASE("the one who waits for a latch destroys it, while others have just counted") {
  in_rounds([](hocket::runtime& rt, detail::random_engine&) {
    auto ready = std::make_unique<latch>(crowd);
    int made[crowd]{};
    std::atomic<int> wrong{0};
    std::vector<join_handle<>> all;
    all.push_back(spawn(rt, [&] {
      auto open = await(ready->wait());
      if (!open) ++wrong;
      for (auto& one : made) {
        if (one != 1) ++wrong;
      }
      ready.reset();
    }));
    latch* const same = ready.get();
    for (std::size_t i = 0; i < crowd; ++i) {
      all.push_back(spawn(rt, [&made, same, i] {
        made[i] = 1;
        same->count_down();
      }));
    }
    wait_for(all);
    REQUIRE(wrong == 0);
    REQUIRE(ready == nullptr);
  });
}
