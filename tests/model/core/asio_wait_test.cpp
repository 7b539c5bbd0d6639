// A wait for an operation that is asked to end and waited for, under every schedule: a completion handler, a stop and
// the emission that it causes. The coroutine goes on once, when the other two have let go; then its memory is gone.
#include <hocket/asio/detail/wait.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include "core/kept.hpp"
#include "sync/waits.hpp"
#include "verdict.hpp"

namespace {

using hocket::context;
using hocket::executor;
using hocket::stop_source;
using hocket::detail::asio_wait;
using hocket::detail::runnable;
using hocket::detail::wait_end;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket::primitive::waiter;
using hocket_test::kept;
namespace model = hocket::model;

class one_home final : public executor {
 public:
  void post_from_outside(runnable&) noexcept override {
    require(posted_.fetch_add(1, std::memory_order_release) == 0, "posted twice");
    hocket::detail::futex_wake_one(posted_);
  }
  void sleep() {
    while (posted_.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(posted_, 0);
  }

 private:
  atomic<std::uint32_t> posted_{0, "posted"};
};

enum class mistake { none, emits_uncounted, takes_it_back };

// The io_context of the emissions: at most one. It is run by whoever has posted it, later.
class emissions {
 public:
  void post() noexcept { posted_.store(true, std::memory_order_release); }
  bool take() noexcept { return posted_.exchange(false, std::memory_order_acquire); }

 private:
  atomic<bool> posted_{false};
};

// What stands around the wait in the coroutine's frame: a buffer, a signal.
template <mistake Wrong>
class operation final : public asio_wait {
 public:
  explicit operation(emissions& to) noexcept : to_(to) {}

  void arm() noexcept {
    wait_.arm({});
    entry_.enlist(wait_, *this);
  }
  bool commit() noexcept { return wait_.commit(); }
  wait_end finish() {
    const wait_end got = wait_.finish();
    require(buffer_ == 1, "it goes on before the operation has completed");
    return got;
  }

  bool detach(waiter&) noexcept override {
    if (Wrong == mistake::takes_it_back) return true;
    if (Wrong == mistake::emits_uncounted) to_.post();
    else if (join()) to_.post();
    return false;
  }

  void complete() {
    const party last(*this);
    buffer_ = 1;
  }
  void emit() {
    if (Wrong == mistake::emits_uncounted) {
      signal_ = 1;
      return;
    }
    const party last(*this);
    signal_ = 1;
  }

 private:
  emissions& to_;
  var<int> buffer_{0, "buffer"}, signal_{0, "signal"};
};

template <mistake Wrong>
void completed_beside_a_stop(execution& run) {
  stop_source stop;
  one_home home;
  emissions posted;
  hocket::context_options under;
  under.stop = &stop;
  hocket::context_ptr ctx = context::child_of(context::root(), under, {});
  kept<operation<Wrong>> what(posted);
  atomic<std::uint32_t> begun{0, "begun"};
  run.thread("coroutine", [&] {
    hocket::detail::this_thread().binding.running_on = &home;
    hocket::detail::this_thread().ctx = ctx.get();
    what->arm();
    begun.store(1, std::memory_order_release);
    hocket::detail::futex_wake_one(begun);
    const bool suspended = what->commit();
    if (posted.take()) what->emit();
    if (suspended) home.sleep();
    const wait_end got = what->finish();
    require(got == wait_end::granted || got == wait_end::cancelled);
    what.free();
  });
  run.thread("handler", [&, at = &*what] {
    while (begun.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(begun, 0);
    at->complete();
  });
  run.thread("stop", [&, at = &*what] {
    stop.request(hocket::stop_level::cancel);
    if (posted.take()) at->emit();
  });
  run.join();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1};

template <mistake Wrong>
bool is_found() {
  auto result = model::explore(bounds, completed_beside_a_stop<Wrong>);
  INFO(result.text());
  CHECK(result.kind != bug::none);
  return result.kind == bug::use_after_destroy || result.kind == bug::data_race || result.kind == bug::assertion;
}

}  // namespace

TEST_CASE("a wait for an operation ends when that has completed and nobody emits, stopped or not") {
  ::verdict::none(bounds, completed_beside_a_stop<mistake::none>);
}

TEST_CASE("an emission that is no party of the wait touches it when it is gone") {
  CHECK(is_found<mistake::emits_uncounted>());
}

TEST_CASE("a wait that is taken back from its operation goes on while that owns the buffer") {
  CHECK(is_found<mistake::takes_it_back>());
}
