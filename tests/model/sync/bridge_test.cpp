// The bridge to foreign awaitables (core/spawn/detail/bridge.hpp) under every schedule, as foreign_wait
// (core/spawn/seam/foreign_wait.hpp) uses it.
//
// - A resume on another thread may come before await_suspend has returned, or later: the coroutine goes on once, sees
//   what the other thread did, and may destroy the bridge at once. The resume touches nothing of it after the post.
// - An awaitable that resumes its handle and then does not suspend is fatal: of the resume and the withdrawal, the
//   second one. They meet at one atomic word, so it does not matter how close they are.
//
// All orderings of bridge.cpp are relaxed: the post alone publishes what the resuming thread did.
#include <hocket/base/fatal.hpp>
#include <hocket/core/spawn/seam/foreign_wait.hpp>

#include "sync/waits.hpp"

#include <csetjmp>

namespace {

using hocket::context;
using hocket::detail::foreign_wait;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::place;
namespace model = hocket::model;

// Hands its handle to another thread, which resumes it. Says whether it suspends.
struct foreign {
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) {
    given.store(handle.address(), std::memory_order_release);
    return suspends;
  }
  int await_resume() const { return value; }

  // On the other thread.
  void resume() {
    void* handle = nullptr;
    while (!(handle = given.load(std::memory_order_acquire))) model::pause();
    value = 7;
    std::coroutine_handle<>::from_address(handle).resume();
  }

  const bool suspends;
  hocket::primitive::atomic<void*> given{nullptr, "given"};
  var<int> value{0, "value"};
};
using wait_for_foreign = foreign_wait<foreign&>;

void resumed_by_another_thread(execution& run) {
  place where;
  foreign what{true};
  run.thread("waits", [&] {
    where.enter();
    context* const own = hocket::detail::this_thread().ctx;
    kept<wait_for_foreign> wait(what);
    require(wait->await_suspend({}));
    hocket::detail::this_thread().ctx = nullptr;  // others ran meanwhile
    where.sleep();
    require(wait->await_resume() == 7);
    require(hocket::detail::this_thread().ctx == own, "it goes on under a context that is not its own");
    wait.free();
    where.expect_sane();
  });
  run.thread("resumes", [&] { what.resume(); });
  run.join();
}

// The threads that ended in a fatal report. A report does not return, and nothing may leave it: here it jumps out.
struct fatal_reports {
  int count = 0;
  std::jmp_buf out[3];  // of each thread

  static fatal_reports*& present() noexcept {
    static fatal_reports* it = nullptr;
    return it;
  }
  fatal_reports() noexcept { present() = this; }

  template <class F>
  void catch_in(F body) {
    if (setjmp(out[model::thread_index()]) == 0) body();
  }
  static void report(const hocket::fatal_error&) noexcept {
    ++present()->count;
    std::longjmp(present()->out[model::thread_index()], 1);
  }
};

// What a thread leaves behind in a fatal report is never destroyed.
void resumed_and_not_suspended(execution& run) {
  place where;
  foreign what{false};
  fatal_reports fatal;
  kept<wait_for_foreign> wait(what);
  run.thread("waits", [&] {
    where.enter();
    fatal.catch_in([&] { require(!wait->await_suspend({})); });
  });
  run.thread("resumes", [&] { fatal.catch_in([&] { what.resume(); }); });
  run.join();
  require(fatal.count == 1, "one of both must notice the other");
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 0};

}  // namespace

TEST_CASE("a coroutine that another thread resumes goes on once, and may destroy its bridge at once") {
  ::verdict::none(bounds, resumed_by_another_thread);
}

TEST_CASE("a foreign awaitable that resumes and does not suspend is fatal, however the two meet") {
  const auto before = hocket::set_fatal_handler(&fatal_reports::report);
  ::verdict::none(bounds, resumed_and_not_suspended);
  hocket::set_fatal_handler(before);
}

TEST_CASE("every ordering of the bridge is needed") {
  const auto unneeded = model::unneeded_orderings(bounds, resumed_by_another_thread);
  CHECK(::verdict::unneeded_in("bridge.cpp", unneeded) == "");
}
