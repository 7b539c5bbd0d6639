// The surroundings of a task manager in a model test: a loop that the test runs, and a clock that stands still. Also
// promises and coroutines, which the test begins and ends by hand.
#pragma once
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/manager/task_manager.hpp>
#include <hocket/time/seam/timer_wheel.hpp>
#include <manager/manager_core.hpp>

#include "sync/waits.hpp"

namespace hocket_test {

using hocket::model::require;

// Whether the inside of a manager was freed in this execution. Defined in late_free.cpp.
bool was_freed(const void* inside) noexcept;

struct still_clock final : hocket::clock_source {
  hocket::time_point now() const noexcept override { return at; }
  hocket::time_point at{};
};

// The loop: an executor, its timers and its count of enrolled coroutines.
class small_loop final : public hocket::executor, public hocket::spawn_target, public hocket::detail::timer_waker {
 public:
  // executor: of the keeper. The coroutines of a test have no frames.
  void post_from_outside(hocket::detail::runnable& work) noexcept override {
    if (!work.handle) return;
    work_ = &work;
    inbox_.fetch_or(posted, std::memory_order_release);
  }
  hocket::detail::timer_service* timers() noexcept override { return &wheel; }
  // timer_waker
  void wake() noexcept override {
    reminder_ = 1;  // as the push to an inbox writes it
    inbox_.fetch_or(reminded, std::memory_order_release);
  }
  // spawn_target
  hocket::executor& home() noexcept override { return *this; }
  hocket::context& parent_context() noexcept override { return hocket::context::root(); }
  std::error_code enroll(std::size_t count) noexcept override {
    enrolled.fetch_add(static_cast<int>(count), std::memory_order_relaxed);
    return {};
  }
  void leave() noexcept override { enrolled.fetch_sub(1, std::memory_order_release); }
  hocket::unhandled_handler on_unhandled() const noexcept override { return nullptr; }

  // On its thread: what has come. False: nothing.
  bool poll() {
    const std::uint32_t what = inbox_.exchange(0, std::memory_order_acquire);
    if (what & reminded) {
      require(reminder_ == 1, "reminded twice");
      reminder_ = 0;
      wheel.reclaim();
    }
    if (what & posted) {
      hocket::detail::runnable* work = work_;
      work->handle.resume();
    }
    return what != 0;
  }

  still_clock time;
  hocket::detail::timer_wheel wheel{time, *this, *this};
  hocket::primitive::atomic<int> enrolled{0, "enrolled"};

 private:
  static constexpr std::uint32_t posted = 1, reminded = 2;
  hocket::primitive::atomic<std::uint32_t> inbox_{0, "inbox"};
  hocket::model::var<hocket::detail::runnable*> work_{nullptr, "work"};
  hocket::model::var<int> reminder_{0, "reminder"};
};

// A promised reply. Counts its ends.
struct reply {
  hocket::task_id id = hocket::task_id::none;
  hocket::model::var<int> ends{0, "ends of a reply"};

  static void fail(void* self, std::error_code) noexcept { static_cast<reply*>(self)->end(); }
  static constexpr hocket::detail::promise_kind kind{&fail};

  void promise(hocket::detail::manager_core& core, hocket::duration within = hocket::duration::max(),
               hocket::task_group group = {}) {
    id = add_promise(core, kind, this, {.within = within, .group = group, .location = {}});
  }
  // By its id. False: it is not expected any more.
  bool complete(hocket::detail::manager_core& core) {
    std::error_code why;
    void* const found = take_promise(core, id, kind, why);
    require(!found || found == this, "a reply has another's id");
    if (found) end();
    return found;
  }
  void end() { ends = ends + 1; }
};

// A managed coroutine without a handle. The test ends it on a thread of its own, as a body would.
class managed final : public hocket::detail::scheduled {
 public:
  managed(kept<managed>& own, hocket::spawn_target& target)
      : hocket::detail::scheduled(target, hocket::detail::coroutine_kind::task, {.location = {}},
                                  [](hocket::context& self) noexcept { static_cast<managed&>(self).own_.free(); }),
        own_(own) {}
  void end() noexcept {
    succeed();
    finish();
  }

 private:
  kept<managed>& own_;
};

struct spawned {
  kept<managed> body;
  hocket::task_id id;

  explicit spawned(hocket::detail::manager_core& core, hocket::task_group group = {},
                   hocket::duration within = hocket::duration::max())
      : spawned(hocket::detail::managed_place(core, {.within = within, .group = group, .location = {}})) {}

 private:
  explicit spawned(hocket::detail::managed_place&& where) : body(body, where.target()) {
    require(where.admit(*body));
    where.accept(*body, {});
    body->drop_handle();
    id = where.id();
  }
};

// A manager, as task_manager holds it: by one reference.
struct stage {
  using core = hocket::detail::manager_core;

  kept<small_loop> loop;
  core& inside;

  explicit stage(const hocket::manager_options& options = {}) : inside(*new core(*loop, options, {})) {}
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;
  // Of an execution in which a bug was found: see kept.
  ~stage() {
    if (!was_freed(&inside)) detail::graveyard::get().abandoned.push_back(&inside);
  }

  // On the loop's thread.
  void poll(int times) {
    hocket::detail::running_scope here({&*loop}, nullptr);
    while (times-- > 0) loop->poll();
  }
  // When the threads are done.
  void settle() {
    hocket::detail::running_scope here({&*loop}, nullptr);
    while (loop->poll()) continue;
  }
  void expect_rest() {
    settle();
    require(loop->enrolled.load(std::memory_order_acquire) == 0, "something is enrolled though nothing is live");
    require(loop->wheel.empty());
  }
  void end() {
    expect_rest();
    if (!was_freed(&inside)) inside.release();
    require(was_freed(&inside), "never freed");
    loop.free();
  }
};

}  // namespace hocket_test
