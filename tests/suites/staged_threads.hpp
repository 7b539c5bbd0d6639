// Plain threads that take turns: a kind for the suites (world.hpp). Each waits as sync_wait does, without a handle; but
// who was woken goes on when its turn comes, in the order of the wake-ups. Threads that really block, by the machine's
// clock, are in unit/runtime/stackful/blocked_threads_test.cpp.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/strength.hpp>

#include "suites/world.hpp"
#include "support/hand_timers.hpp"

#include <condition_variable>
#include <deque>
#include <doctest/doctest.h>
#include <mutex>
#include <thread>
#include <vector>

namespace hocket_test {

class staged_threads {
  class one_thread;

 public:
  using body = direct_body<staged_threads>;
  using strength = hocket::strength::shared;
  using blocks_threads = void;

  ~staged_threads() {
    for (auto& one : all_) one->stop.request(hocket::stop_level::kill);
    settle();
    for (auto& one : all_) CHECK(one->how != fate::running);
    for (auto& one : all_) one->thread.join();
    CHECK(timers_.empty());
  }

  template <class F, class... Args>
  int start(F body_of, Args... args) {
    auto one = std::make_unique<one_thread>(*this);
    one_thread& self = *one;
    all_.push_back(std::move(one));
    self.thread = std::thread(
        [&self, call = kept_call<F, Args...>{std::move(body_of), {std::move(args)...}}]() mutable { self.run(call); });
    ready(self);
    return static_cast<int>(all_.size()) - 1;
  }
  void settle() {
    std::unique_lock guard(mutex_);
    while (!ready_.empty()) {
      on_stage_ = ready_.front().first;
      posted_ = ready_.front().second;
      ready_.pop_front();
      turn_.notify_all();
      turn_.wait(guard, [this] { return on_stage_ == nullptr; });
    }
  }
  void cancel(int id) { at(id).stop.request(hocket::stop_level::cancel); }
  void kill(int id) { at(id).stop.request(hocket::stop_level::kill); }
  void pass(hocket::duration time) {
    timers_.pass(time);
    settle();
  }
  hocket::time_point now() const { return timers_.now(); }
  fate ended(int id) { return at(id).how; }

  // Waits in the calling thread, which is one of this kind.
  template <class A>
  static decltype(auto) await(A&& a) {
    auto&& awaiter = hocket::detail::get_awaiter(std::forward<A>(a));
    if (!awaiter.await_ready()) one_thread::current()->suspend(awaiter);
    return awaiter.await_resume();
  }

 private:
  class one_thread final : public hocket::executor {
   public:
    explicit one_thread(staged_threads& world) : world_(world) {}

    static one_thread*& current() {
      thread_local one_thread* self = nullptr;
      return self;
    }
    template <class Call>
    void run(Call& call) {
      current() = this;
      world_.wait_for_turn(*this);
      hocket::detail::this_thread().ctx = ctx_.get();
      try {
        call().get();
        how = fate::ended;
      } catch (...) {
        how = fate_of(std::current_exception());
      }
      world_.leave_stage();
    }
    template <class W>
    void suspend(W& awaiter) {
      bool suspended = false;
      {
        hocket::detail::running_scope running({this}, ctx_.get());
        suspended = awaiter.await_suspend(std::coroutine_handle<>{});
      }
      while (suspended) {
        world_.leave_stage();
        world_.wait_for_turn(*this);
        suspended = run_posted();
      }
    }
    void post_from_outside(hocket::detail::runnable& work) noexcept override { world_.ready(*this, &work); }
    hocket::detail::timer_service* timers() noexcept override { return &world_.timers_; }

    std::thread thread;
    hocket::stop_source stop;
    fate how = fate::running;

   private:
    // What was posted for this turn: a task that is waited for, or (false) the thread itself.
    bool run_posted() {
      hocket::detail::runnable* work = world_.take_posted();
      if (!work->handle) return false;
      hocket::detail::running_scope running({this}, ctx_.get());
      work->handle.resume();
      return true;
    }
    staged_threads& world_;
    hocket::context_ptr ctx_ = hocket::context::child_of(hocket::context::root(), {.stop = &stop});
  };

  void ready(one_thread& who, hocket::detail::runnable* posted = nullptr) {
    std::lock_guard guard(mutex_);
    ready_.emplace_back(&who, posted);
  }
  hocket::detail::runnable* take_posted() {
    std::lock_guard guard(mutex_);
    return posted_;
  }
  void wait_for_turn(one_thread& who) {
    std::unique_lock guard(mutex_);
    turn_.wait(guard, [&] { return on_stage_ == &who; });
  }
  void leave_stage() {
    std::lock_guard guard(mutex_);
    on_stage_ = nullptr;
    turn_.notify_all();
  }
  one_thread& at(int id) { return *all_[static_cast<std::size_t>(id)]; }

  hand_timers timers_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::deque<std::pair<one_thread*, hocket::detail::runnable*>> ready_;  // by turns: the thread, and what it runs
  hocket::detail::runnable* posted_ = nullptr;                           // of the turn that it is
  one_thread* on_stage_ = nullptr;
  std::vector<std::unique_ptr<one_thread>> all_;
};

}  // namespace hocket_test
