// Threads that wait for operations, under the model checker.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/operation.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

namespace hocket_test {

// Where one thread of the model waits: its executor and its context. It lives as long as the execution.
class place final : public hocket::executor {
 public:
  explicit place(hocket::stop_source* stop = nullptr)
      : ctx_(hocket::context::child_of(hocket::context::root(), {.stop = stop})) {}

  void post_from_outside(hocket::detail::runnable& posted) noexcept override {
    posted_ = &posted;
    // A plain store would hide a second post.
    if (posts_.fetch_add(1, std::memory_order_release) != taken_) twice_ = true;
    hocket::detail::futex_wake_one(posts_);
  }
  void enter() {
    hocket::detail::this_thread().binding.running_on = this;
    hocket::detail::this_thread().ctx = ctx_.get();
  }
  // Until the post of the wait under way.
  void sleep() {
    while (posts_.load(std::memory_order_acquire) == taken_) hocket::detail::futex_wait(posts_, taken_);
    ++taken_;
  }
  // The same, and runs what was posted, in the place of a queue.
  void run() {
    sleep();
    posted_->handle.resume();
  }
  void expect_no_post() const {
    hocket::model::require(posts_.load(std::memory_order_relaxed) == taken_, "posted, and gone straight on");
  }
  void expect_sane() const { hocket::model::require(!twice_, "posted twice"); }

 private:
  hocket::context_ptr ctx_;
  bool twice_ = false;
  hocket::detail::runnable* posted_ = nullptr;
  std::uint32_t taken_ = 0;  // of the thread that waits here
  hocket::primitive::atomic<std::uint32_t> posts_{0, "posts"};
};

// One wait: begun where it is constructed, ended by end(), which may be on another thread of the model. Its memory is
// given up as soon as a coroutine's would be.
template <class Op, class Options = hocket::detail::no_options>
class one_wait {
 public:
  one_wait(place& where, hocket::primitive::operation<Op, Options> op) : where_(where), op_(std::move(op)), wait_(op_) {
    static_cast<void>(std::move(op_).unwrap());  // it is awaited, by hand
    where_.enter();
    if (!wait_->await_ready()) suspended_ = wait_->await_suspend({});
  }
  auto end() {
    where_.enter();
    if (suspended_) where_.sleep();
    else where_.expect_no_post();
    auto got = wait_->await_resume();
    where_.expect_sane();
    wait_.free();
    return got;
  }

 private:
  place& where_;
  hocket::primitive::operation<Op, Options> op_;
  kept<hocket::detail::wait<Op, Options>> wait_;
  bool suspended_ = false;
};

// Waits in the calling thread.
template <class Op, class Options>
auto wait_at(place& where, hocket::primitive::operation<Op, Options> op) {
  return one_wait<Op, Options>(where, std::move(op)).end();
}

}  // namespace hocket_test
