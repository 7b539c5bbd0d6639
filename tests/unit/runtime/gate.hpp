// A primitive for the tests of the runtime: coroutines wait at it until it is opened.
#pragma once
#include <hocket/base/mutex.hpp>
#include <hocket/core/operation.hpp>

namespace hocket_test {

class gate final : public hocket::wait_source {
 public:
  struct passage {
    using value_type = void;
    gate* at;

    bool try_now() noexcept { return false; }
    void begin(hocket::suspension& wait, hocket::waiter& entry) noexcept {
      hocket::locked guard(at->mutex_);
      entry.enlist(wait, *at);
      at->waiting_.push_back(entry);
    }
    hocket::result<void> take() noexcept { return {}; }
  };

  hocket::operation<passage> pass(hocket::source_place at = hocket::this_place()) noexcept {
    return hocket::operation(passage{this}, at);
  }

  // Lets everybody go on who waits now.
  void open() noexcept {
    while (hocket::waiter* first = pop()) first->claim_popped().post();
  }

  const char* what() const noexcept override { return "gate"; }
  bool detach(hocket::waiter& entry) noexcept override {
    hocket::locked guard(mutex_);
    if (!entry.linked()) return false;
    waiting_.erase(entry);
    return true;
  }
  void pass_on(hocket::waiter&) noexcept override {}

 private:
  hocket::waiter* pop() noexcept {
    hocket::locked guard(mutex_);
    return waiting_.empty() ? nullptr : &waiting_.pop_front();
  }

  hocket::thread_mutex mutex_;
  hocket::list<hocket::waiter> waiting_;
};

}  // namespace hocket_test
