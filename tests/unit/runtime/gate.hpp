// A primitive for the tests of the runtime: coroutines wait at it until it is opened.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/wait/seam/operation.hpp>

namespace hocket_test {

class gate final : public hocket::primitive::wait_source {
 public:
  struct passage {
    using value_type = void;
    gate* at;

    bool try_now() noexcept { return false; }
    void begin(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept {
      hocket::primitive::locked guard(at->mutex_);
      entry.enlist(wait, *at);
      at->waiting_.push_back(entry);
    }
    hocket::result<void> take() noexcept { return {}; }
  };

  hocket::primitive::operation<passage> pass(hocket::call_site at = hocket::this_call_site()) noexcept {
    return hocket::primitive::operation(passage{this}, at);
  }

  // Lets everybody go on who waits now.
  void open() noexcept {
    while (hocket::primitive::waiter* first = pop()) first->claim_popped().post();
  }

  const char* what() const noexcept override { return "gate"; }
  bool detach(hocket::primitive::waiter& entry) noexcept override {
    hocket::primitive::locked guard(mutex_);
    if (!entry.linked()) return false;
    waiting_.erase(entry);
    return true;
  }
  void pass_on(hocket::primitive::waiter&) noexcept override {}

 private:
  hocket::primitive::waiter* pop() noexcept {
    hocket::primitive::locked guard(mutex_);
    return waiting_.empty() ? nullptr : &waiting_.pop_front();
  }

  hocket::primitive::thread_mutex mutex_;
  hocket::detail::list<hocket::primitive::waiter> waiting_;
};

}  // namespace hocket_test
