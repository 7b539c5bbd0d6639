// The smallest primitive that follows the protocol of suspension.hpp: permits, and a list of waiters for one.
//
// It serves the tests of the protocol itself, sequential, under stress and under the model checker. It does only the
// steps that every primitive does.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/wait/seam/wait_queue.hpp>

#include <coroutine>

namespace hocket_test {

class permit_source : public hocket::primitive::wait_source {
 public:
  class acquisition;
  class choice;

  explicit permit_source(int permits = 0) noexcept : free_(permits) {}
  virtual ~permit_source() = default;

  // Waits for a permit. Gives the wait_end of the wait: `granted` means that the caller has it.
  [[nodiscard]] acquisition acquire() noexcept;

  // Gives a permit to the first waiter with a wait that can still be granted, else keeps it.
  virtual void release() noexcept {
    hocket::primitive::grant first;
    {
      hocket::primitive::locked guard(mutex_);
      first = waiting_.claim_first();
      if (!first) ++free_;
    }
    first.post();
  }

  // Under one lock: takes a permit (true; unless the wait was granted by another source), or registers `entry` (false).
  virtual bool take_or_list(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept {
    hocket::primitive::locked guard(mutex_);
    if (free_ > 0) {
      if (wait.take_now(entry, *this)) --free_;
      return true;
    }
    waiting_.enlist(wait, *this, entry);
    return false;
  }

  const char* what() const noexcept override { return "permits"; }
  bool detach(hocket::primitive::waiter& entry) noexcept override {
    hocket::primitive::locked guard(mutex_);
    return waiting_.take_out(entry);
  }
  void pass_on(hocket::primitive::waiter&) noexcept override {
    ++passed_on;
    release();
  }

  int free() noexcept {
    hocket::primitive::locked guard(mutex_);
    return free_;
  }
  bool has_waiters() noexcept {
    hocket::primitive::locked guard(mutex_);
    return !waiting_.empty();
  }

  int passed_on = 0;  // how often a granted permit came back unconsumed; for tests of one thread

  // For tests that pop a waiter by hand and claim it afterwards.
  hocket::primitive::waiter* pop() noexcept {
    hocket::primitive::locked guard(mutex_);
    return waiting_.empty() ? nullptr : &waiting_.pop_front();
  }

 protected:
  hocket::primitive::waiter* pop_or_keep() noexcept {
    hocket::primitive::locked guard(mutex_);
    if (!waiting_.empty()) return &waiting_.pop_front();
    ++free_;
    return nullptr;
  }

  hocket::primitive::thread_mutex mutex_;
  hocket::primitive::wait_queue waiting_;
  int free_;
};

// Awaits one permit.
class permit_source::acquisition {
 public:
  explicit acquisition(permit_source& source) noexcept : source_(source) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept {
    wait_.arm(handle);
    source_.take_or_list(wait_, entry_);
    return wait_.commit();
  }
  hocket::detail::wait_end await_resume() noexcept { return wait_.finish(); }

 private:
  permit_source& source_;
  hocket::primitive::suspension wait_;
  hocket::primitive::waiter entry_;
};

inline permit_source::acquisition permit_source::acquire() noexcept { return acquisition(*this); }

// Awaits a permit of either of two sources: a select.
class permit_source::choice {
 public:
  struct result {
    hocket::detail::wait_end how;
    std::size_t index;
  };

  choice(permit_source& zero, permit_source& one) noexcept : sources_{&zero, &one} {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept {
    wait_.arm(handle);
    for (int i = 0; i < 2 && !wait_.decided(); ++i) sources_[i]->take_or_list(wait_, entries_[i]);
    return wait_.commit();
  }
  result await_resume() noexcept {
    const hocket::detail::wait_end how = wait_.finish();
    return {how, how == hocket::detail::wait_end::granted ? hocket::primitive::waiter::granted_of(entries_) : 0};
  }

 private:
  permit_source* sources_[2];
  hocket::primitive::suspension wait_;
  hocket::primitive::waiter entries_[2];
};

}  // namespace hocket_test
