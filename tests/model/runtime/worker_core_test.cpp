// The workers of a pool, the posters and the searches, as the runtime compiles them, under every schedule: no work
// waits beside a worker that sleeps and could take it. What the variants of it lose is in tests/mutants; the fences and
// the orderings are weakened here.
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/frame.hpp>

#include "core/kept.hpp"
#include "runtime/posters.hpp"
#include "runtime/worker_core.hpp"
#include "verdict.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace hocket;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
namespace model = hocket::model;

// One that any worker may run, once.
struct job : detail::runnable {
  explicit job(executor& pool) noexcept {
    handle = detail::handle_of(head);
    home = &pool;
  }
  void run() {
    require(payload == 1, "it was taken before it was made");
    runs = runs + 1;
  }

  detail::frame_head head{};
  var<int> payload{0, "payload"};
  var<int> runs{0, "runs"};
};

class pool_under_test;

// What a worker has of its event loop.
struct arrivals {
  futex_parker futex_;
  detail::inbox inbox_{futex_};
  detail::run_queue ready_;
};

// The loop of a worker, without what it does besides.
class test_worker final : private arrivals, public detail::worker_core {
 public:
  explicit test_worker(pool_under_test& pool) noexcept;
  // Of an execution in which a bug was found.
  ~test_worker() {
    while (stealable_.pop()) {
    }
    while (forks_.pop()) {
    }
  }

  void work(bool comes_back);
  void sleep_once() {
    static_cast<void>(rest([] { return false; }, [] {}));
  }
  // Is a worker that runs a coroutine.
  template <class Body>
  void be_busy(Body body);
  detail::fork_deque& forks() noexcept { return forks_; }

 private:
  pool_under_test& pool_;
};

class pool_under_test final : public executor, public detail::pool_core {
 public:
  pool_under_test(std::size_t threads, std::size_t count) : detail::pool_core(threads), left_(count) {
    jobs.reserve(count);
    for (std::size_t i = 0; i < count; ++i) jobs.push_back(std::make_unique<job>(*this));
    for (std::size_t i = 0; i < threads; ++i) workers.push_back(std::make_unique<test_worker>(*this));
  }
  void post_from_outside(detail::runnable& work) noexcept override {
    inject([&](detail::injection& line) noexcept { line.post(work); });
  }
  void offer() noexcept override { wake_one(); }  // as if it were late

  // Posts to this worker, from any thread.
  void bring(std::size_t i) {
    jobs[i]->payload = 1;
    hocket::detail::post(*jobs[i]);
  }
  void bring_both() {
    detail::runnable* const both[] = {&*jobs[0], &*jobs[1]};
    for (auto& one : jobs) one->payload = 1;
    hocket::detail::post_all(*this, {both, 2});
  }
  void ran(std::coroutine_handle<> work) {
    for (auto& one : jobs) {
      if (one->handle == work) one->run();
    }
    ended();
  }
  void ended() {
    if (left_.fetch_sub(1, std::memory_order_relaxed) != 1) return;
    for (auto& one : workers) one->nudge();
  }
  bool over() const noexcept { return left_.load(std::memory_order_relaxed) == 0; }
  void each_ran_once() {
    for (auto& one : jobs) require(one->runs == 1, "one ran twice, or not at all");
  }

  std::vector<std::unique_ptr<job>> jobs;
  std::vector<std::unique_ptr<test_worker>> workers;

 private:
  primitive::atomic<std::size_t> left_;
};

test_worker::test_worker(pool_under_test& pool) noexcept : worker_core(pool, inbox_, ready_), pool_(pool) {}

// `comes_back`: the worker returns from the first run of jobs that it has found; else another must take later jobs.
void test_worker::work(bool comes_back) {
  while (!pool_.over()) {
    static_cast<void>(inbox_.take());
    static_cast<void>(take_injected());
    if (has_ready()) {
      share();
      bool any = false;  // a thief may have been faster
      while (const std::coroutine_handle<> next = stealable_.pop()) {
        any = true;
        pool_.ran(next);
      }
      if (comes_back || !any) continue;
      return;
    }
    const auto [found, fork] = find_work();
    if (fork) fork->begin(*fork);
    if (found) continue;
    const auto called = [&] { return pool_.over(); };  // the nudge after it may have been used up
    static_cast<void>(rest(called, [this] { static_cast<void>(inbox_.sleep(time_point::max())); }));
  }
}

template <class Body>
void test_worker::be_busy(Body body) {
  detail::running_scope running({nullptr, nullptr, &pool_, &stealable_, &forks_}, nullptr);
  body();
}

// Other threads post; workers take all of it in the end.
template <std::size_t Posters, std::size_t Workers, bool come_back = true>
void posted_from_outside(execution& run) {
  pool_under_test pool(Workers, Posters);
  for (std::size_t i = 0; i < Posters; ++i) run.thread("poster", [&pool, i] { pool.bring(i); });
  for (auto& one : pool.workers) run.thread("worker", [&] { one->work(come_back); });
  run.join();
  pool.each_ran_once();
}

// A coroutine makes two ready, one by one or at once, or forks, and does not let go of its worker: the other one must
// take one.
template <bool AtOnce>
void too_much_for_one(execution& run) {
  pool_under_test pool(2, 2);
  run.thread("busy",
             [&] { pool.workers[0]->be_busy([&] { AtOnce ? pool.bring_both() : (pool.bring(0), pool.bring(1)); }); });
  run.thread("idle", [&] { pool.workers[1]->work(false); });
  run.join();
  require(pool.workers[0]->stealable().in_reach() == 1);
}

struct begun_fork : detail::fork_entry {
  explicit begun_fork(pool_under_test& of) : pool(of) { begin = &begun; }
  static std::coroutine_handle<> begun(detail::fork_entry& self) noexcept {
    static_cast<begun_fork&>(self).pool.ended();
    return {};
  }
  pool_under_test& pool;
};

void forked_beside_an_idle_worker(execution& run) {
  pool_under_test pool(2, 1);
  begun_fork fork(pool);
  run.thread("busy", [&] {
    pool.workers[0]->be_busy([&] {
      require(pool.workers[0]->forks().push(fork));
      if (pool.workers[0]->forks().should_offer()) pool.wake_one();
    });
  });
  run.thread("idle", [&] { pool.workers[1]->work(false); });
  run.join();
  require(pool.over());
}

// The pool goes as soon as all has run and the poster is done with it, which is later.
template <bool Counted>
void destroyed_after_the_post(execution& run) {
  std::optional<hocket_test::posters> all;
  if (!Counted) all.emplace();
  hocket_test::kept<pool_under_test> pool(1u, 1u);
  run.thread("poster", [&] { pool->bring(0); });
  run.thread("worker, and destroys", [&] {
    pool->workers[0]->work(true);
    while (!pool->has_no_posts()) model::pause();
    pool.free();
  });
  run.join();
}

// A worker that is awake finds the watch awake, whenever that has decided to rest.
void watch_is_armed(execution& run) {
  pool_under_test pool(1, 1);
  primitive::atomic<int> looks{0, "looks"}, over{0, "over"};
  run.thread("watch", [&] {
    for (;;) {
      const std::uint32_t rung = pool.read_watch_epoch();
      if (over.load(std::memory_order_relaxed) != 0) return;
      pool.pause_watch(rung, duration(1));
      looks.store(1, std::memory_order_relaxed);
    }
  });
  run.thread("worker", [&] {
    pool.workers[0]->sleep_once();
    looks.store(0, std::memory_order_relaxed);
    while (looks.load(std::memory_order_relaxed) == 0) model::pause();
    over.store(1, std::memory_order_relaxed);
    pool.arm_watch();
  });
  run.join();
}

constexpr model::options wide{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options narrow{.preemptions = 1, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_SUITE_BEGIN("model/runtime/worker_core");

TEST_CASE("what is posted from outside is taken") {
  ::verdict::none(wide, &posted_from_outside<1, 1>);
  ::verdict::none(narrow, &posted_from_outside<2, 1>);
  ::verdict::none(narrow, &posted_from_outside<1, 2>);
}

TEST_CASE("what is posted while a worker searches is taken, though that worker does not come back from what it found") {
  ::verdict::none(narrow, &posted_from_outside<2, 2, false>);
}

TEST_CASE("what a busy worker has too much of wakes one that sleeps") {
  ::verdict::none(wide, &too_much_for_one<false>);
  ::verdict::none(wide, &too_much_for_one<true>);
}

TEST_CASE("what a busy worker has forked wakes one that sleeps") {
  ::verdict::none(wide, &forked_beside_an_idle_worker);
}

TEST_CASE("a pool is destroyed beside none who still posts to it") {
  ::verdict::none({.preemptions = 2, .stale_reads = 1}, &destroyed_after_the_post<false>);
  ::verdict::none({.preemptions = 2, .stale_reads = 1}, &destroyed_after_the_post<true>);
}

TEST_CASE("a worker that ends a sleep has the watch come back, which rested meanwhile") {
  ::verdict::none({.preemptions = 4, .stale_reads = 1, .spurious = 2}, &watch_is_armed);
}

TEST_CASE("every ordering of the search for work is needed, the fences of both sides among them") {
  constexpr model::options bounds{.preemptions = 1, .stale_reads = 1, .spurious = 0, .weakened = "_core."};
  CHECK(model::unneeded_orderings(bounds, &destroyed_after_the_post<false>, &destroyed_after_the_post<true>,
                                  &posted_from_outside<1, 1>, &too_much_for_one<false>,
                                  &posted_from_outside<2, 2, false>) == "");
}

TEST_CASE("every ordering of a poster is needed") {
  constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0, .weakened = "poster."};
  CHECK(model::unneeded_orderings(bounds, &destroyed_after_the_post<false>) == "");
}

TEST_CASE("the push of a post from outside is seq_cst for the sleepers' sake") {
  constexpr model::options bounds{.preemptions = 1, .stale_reads = 1, .spurious = 0, .weakened = "injection."};
  const std::string unneeded = model::unneeded_orderings(bounds, &posted_from_outside<1, 1>);
  CHECK(unneeded.find("seq_cst could be") == std::string::npos);
}

TEST_SUITE_END();
