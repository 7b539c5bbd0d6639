// The blocking pool under every schedule: the library's own source, on threads of the checker
// (shim/runtime/system_thread.hpp). The time of an idle thread is zero, so it may end at any moment, or take a call.
//
// A mutex guards the line and the threads. Four things are outside of it: the parkers of resting threads, the count of
// threads on which the destructor sleeps, the shares in the line, and the pool of the process. These tests ask:
//
//   a call          runs once, and its coroutine sees what it wrote
//   a thread        that goes to rest, or ends, overlooks no call
//   an end          of the wait, and the begin of the call, exclude each other
//   the destructor  refuses the calls that have not begun, and returns when all threads have ended
#include <hocket/runtime/blocking.hpp>

#include "core/kept.hpp"
#include "runtime/system_thread.hpp"
#include "sync/waits.hpp"
#include "verdict.hpp"

namespace {

using hocket::blocking_pool;
using hocket::blocking_pool_options;
using hocket::duration;
using hocket::stop_source;
using hocket::detail::blocking_job;
using hocket::detail::blocking_operation;
using hocket::detail::system_threads;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket::primitive::operation;
using hocket_test::kept;
using hocket_test::one_wait;
using hocket_test::place;
namespace model = hocket::model;

struct call : blocking_job {
  call() noexcept : blocking_job{&run_call} {}
  static void run_call(blocking_job& self) noexcept {
    auto& one = static_cast<call&>(self);
    one.runs = one.runs + one.input;
  }
  operation<blocking_operation> on(blocking_pool& pool) {
    return operation<blocking_operation>(blocking_operation(pool, this));
  }

  var<int> input{0, "input"};
  var<int> runs{0, "runs"};
};

constexpr blocking_pool_options options_of(duration idle) noexcept { return {.threads = 1, .queue = 2, .idle = idle}; }

void call_once(blocking_pool& pool) {
  place here;
  call work;
  work.input = 1;
  const auto got = hocket_test::wait_at(here, work.on(pool));
  require(bool(got), "a call is refused that could run");
  require(work.runs == 1, "a call did not run, or ran twice");
}

// One calls, again and again. The thread of the call before rests meanwhile, or ends; then another one is started.
template <int Calls>
void called_again(execution& run) {
  system_threads system(run, Calls);
  kept<blocking_pool> pool(options_of(duration::zero()));
  run.thread("calls", [&] {
    for (int i = 0; i < Calls; ++i) call_once(*pool);
    pool.free();
    system.end();
  });
  run.join();
}

// Two call at once, and the second call is in line until the thread has run the first one. Who comes last destroys the
// pool.
void called_by_two(execution& run) {
  system_threads system(run, 1);
  kept<blocking_pool> pool(options_of(duration::max()));
  atomic<int> left{2};
  for (int i = 0; i < 2; ++i) {
    run.thread("calls", [&] {
      call_once(*pool);
      if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      pool.free();
      system.end();
    });
  }
  run.join();
}

// A thread destroys the pool as soon as the call is in line, while it is taken or refused.
void destroyed_beside_a_call(execution& run) {
  system_threads system(run, 1);
  kept<blocking_pool> pool(options_of(duration::zero()));
  atomic<std::uint32_t> begun{0, "begun"};
  run.thread("calls", [&] {
    place here;
    call work;
    work.input = 1;
    one_wait<blocking_operation> wait(here, work.on(*pool));
    begun.store(1, std::memory_order_release);
    hocket::detail::futex_wake_one(begun);
    const auto got = wait.end();
    require(work.runs == (got ? 1 : 0), "a call that was refused ran, or one that was not did not");
    require(got || got.error() == std::errc::operation_canceled);
  });
  run.thread("destroys", [&] {
    while (begun.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(begun, 0);
    pool.free();
    system.end();
  });
  run.join();
}

void cancelled_beside_its_begin(execution& run) {
  system_threads system(run, 1);
  kept<blocking_pool> pool(options_of(duration::zero()));
  stop_source stop;
  run.thread("calls", [&] {
    place here(&stop);
    call work;
    work.input = 1;
    const auto got = hocket_test::wait_at(here, work.on(*pool));
    require(work.runs == (got ? 1 : 0), "a call that was cancelled ran, or one that was not did not");
    pool.free();
    system.end();
  });
  run.thread("cancels", [&] { stop.request(); });
  run.join();
}

void two_ask_for_the_pool_of_the_process(execution& run) {
  blocking_pool* found[2] = {};
  for (auto& one : found) {
    run.thread("asks", [&] {
      one = &blocking_pool::process_pool();
      require(one->statistics().threads == 0);
    });
  }
  run.join();
  require(found[0] == found[1], "two pools of the process");
  delete found[0];
}

constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 1};
constexpr model::options few_switches{.preemptions = 1, .stale_reads = 1, .spurious = 1};
constexpr model::options newest_values{.preemptions = 1, .stale_reads = 0, .spurious = 1};

}  // namespace

TEST_SUITE_BEGIN("model/blocking/blocking_pool");

TEST_CASE("a call runs once, and its coroutine sees what it wrote") { ::verdict::none(narrow, &called_again<1>); }

TEST_CASE("a thread that goes to rest or ends overlooks no call") {
  ::verdict::none(newest_values, &called_again<2>);
  ::verdict::none(newest_values, &called_by_two);
}

TEST_CASE("a pool that is destroyed refuses a call or waits for it") {
  ::verdict::none(few_switches, &destroyed_beside_a_call);
}

TEST_CASE("a call is cancelled or runs") { ::verdict::none(few_switches, &cancelled_beside_its_begin); }

TEST_CASE("threads that ask at once share the pool of the process, and find it whole") {
  ::verdict::none(narrow, &two_ask_for_the_pool_of_the_process);
}

TEST_CASE("every ordering of the blocking pool is needed") {
  constexpr model::options bounds{.preemptions = 1, .stale_reads = 1, .spurious = 0, .weakened = "blocking_pool."};
  CHECK(model::unneeded_orderings(bounds, &two_ask_for_the_pool_of_the_process, &destroyed_beside_a_call,
                                  &cancelled_beside_its_begin) == "");
}

TEST_SUITE_END();
