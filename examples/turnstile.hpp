// A turnstile: each let_one_through() lets one coroutine pass, in the order of their waits. A primitive that only uses
// <hocket/primitive.hpp>. docs/writing-a-primitive.md explains it, tests/model/sync/turnstile_test.cpp proves it.
#pragma once
#include <hocket/primitive.hpp>
#include <cstddef>

class turnstile final : private hocket::primitive::wait_source {
  class passing;

 public:
  // Waits for its turn: result<void>.
  [[nodiscard]] auto pass(hocket::call_site at = hocket::this_call_site()) noexcept {
    return hocket::primitive::operation<passing>(std::in_place, at, *this);
  }

  // Any thread. Lets one coroutine pass: the first waiter, or without waiters the next caller of pass().
  void let_one_through() noexcept {
    hocket::primitive::grant next;
    {
      hocket::primitive::locked guard(mutex_);
      next = line_.claim_first();
      if (!next) ++free_;
    }
    next.post();
  }

 private:
  using suspension = hocket::primitive::suspension;
  using waiter = hocket::primitive::waiter;

  // The wait for one passage, as operation<passing> calls it.
  class passing {
   public:
    using value_type = void;
    explicit passing(turnstile& through) noexcept : turnstile_(&through) {}
    bool try_now() noexcept { return turnstile_->try_pass(); }
    bool begin(suspension& wait, waiter& entry) noexcept { return turnstile_->begin(wait, entry); }
    wait_source& source() const noexcept { return *turnstile_; }
    hocket::result<void> take() noexcept { return {}; }

   private:
    turnstile* turnstile_;
  };

  bool try_pass() noexcept {
    hocket::primitive::locked guard(mutex_);
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  bool begin(suspension& wait, waiter& entry) noexcept {
    hocket::primitive::locked guard(mutex_);
    if (wait.decided()) return false;                         // a stop was first
    if (free_ == 0) return line_.enlist(wait, *this, entry);  // true: it waits
    if (wait.take_now(entry, *this)) --free_;
    return false;
  }

  const char* what() const noexcept override { return "a turnstile"; }
  bool detach(waiter& entry) noexcept override {
    hocket::primitive::locked guard(mutex_);
    return line_.take_out(entry);
  }
  void pass_on(waiter&) noexcept override { let_one_through(); }

  hocket::primitive::thread_mutex mutex_;
  hocket::primitive::wait_queue line_;  // guarded by mutex_
  std::size_t free_ = 0;               // guarded by mutex_; 0 while an undecided wait is linked
};
