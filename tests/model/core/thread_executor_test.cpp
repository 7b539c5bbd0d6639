// The executor of a plain thread, and the mutex of threads: nothing posted is lost, and nothing is touched too late.
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/thread_executor.hpp>

#include "core/kept.hpp"
#include "unit/core/permit_source.hpp"
#include "verdict.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace {

using hocket::context;
using hocket::time_point;
using hocket::detail::runnable;
using hocket::detail::thread_executor;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::thread_mutex;
using hocket_test::kept;
using hocket_test::permit_source;
namespace model = hocket::model;

struct work : runnable {
  var<int> payload{0, "payload"};
};

// The executor is destroyed as soon as everything has been taken.
void two_post_one_takes(execution& run) {
  work items[2];
  auto executor = std::make_unique<thread_executor>();
  run.thread("owner", [&] {
    for (int taken = 0; taken < 2;) {
      for (runnable* item = executor->take(); item; item = item->next, ++taken) {
        require(static_cast<work*>(item)->payload == 1);
      }
    }
    executor.reset();
  });
  for (auto& item : items) {
    run.thread("poster", [&item, to = executor.get()] {
      item.payload = 1;
      to->post_from_outside(item);
    });
  }
  run.join();
}

struct timed_wait {
  explicit timed_wait(permit_source& source) : permit(source) {}
  thread_executor home;
  permit_source::acquisition permit;
};

constexpr time_point over{}, far = time_point::max() - hocket::duration(1);

// A thread waits for a permit with a deadline. By the machine's clock the deadline has passed (so the alarm fires when
// it is checked) or never passes (but the sleep may end, as if it had). Executor and wait are destroyed when it
// returns.
auto granted_beside_the_deadline(time_point deadline) {
  return [=](execution& run) {
    permit_source source;
    auto ctx = context::child_of(context::root(), {.deadline = deadline});
    auto got = hocket::detail::wait_end::none;
    run.thread("waits", [&] {
      kept<timed_wait> self(source);
      {
        hocket::detail::running_scope running({&self->home}, ctx.get());
        if (self->permit.await_suspend({})) require(!self->home.take()->next, "posted twice");
        got = self->permit.await_resume();
      }
      self.free();
    });
    run.thread("grants", [&] { source.release(); });
    run.join();
    require(got == hocket::detail::wait_end::granted ||
            (got == hocket::detail::wait_end::timed_out && deadline == over));
    require(source.free() == (got == hocket::detail::wait_end::granted ? 0 : 1), "a permit was lost, or made");
    require(!source.has_waiters());
  };
}

void three_count(execution& run) {
  thread_mutex mutex;
  var<int> count{0, "count"};
  for (const char* name : {"a", "b", "c"}) {
    run.thread(name, [&] {
      mutex.lock();
      count = count + 1;
      mutex.unlock();
    });
  }
  run.join();
  require(count == 3);
}

}  // namespace

TEST_CASE("a thread executor loses nothing that is posted, and is free when all was taken") {
  verdict::none({.preemptions = 3, .stale_reads = 1, .spurious = 1}, two_post_one_takes);
}

// Two are needed for a reason that the checker cannot see, because its modification order is its execution order: the
// marker is released and acquired so that signal_ = 0 of one sleep is before signal_ = 1 of the next (the S test of
// the literature; on ARM the thread's store may pass its compare-exchange).
TEST_CASE("every ordering of a thread executor is needed, but for two that order stores only") {
  auto unneeded = model::unneeded_orderings({.preemptions = 2, .stale_reads = 1}, two_post_one_takes);
  INFO(unneeded);
  CHECK(std::count(unneeded.begin(), unneeded.end(), '\n') == 2);
  CHECK(unneeded.find(": acq_rel could be release\n") != std::string::npos);
  CHECK(unneeded.find(": release could be relaxed\n") != std::string::npos);
}

TEST_CASE("fault 16: a thread's wait that is granted as its deadline comes ends once, and nothing touches it after") {
  verdict::none({.preemptions = 2, .stale_reads = 1, .spurious = 1}, granted_beside_the_deadline(over));
  verdict::none({.preemptions = 2, .stale_reads = 1, .spurious = 1}, granted_beside_the_deadline(far));
}

TEST_CASE("a thread mutex excludes, wakes its sleepers, and needs each of its orderings") {
  verdict::none({.preemptions = 3, .stale_reads = 2}, three_count);
  CHECK(model::unneeded_orderings({.preemptions = 2, .stale_reads = 2}, three_count) == "");
}
