// src/runtime/system_thread.hpp under the model checker. The checker's threads are declared before an execution begins,
// so each of them sleeps until the library starts a thread. The test declares as many as the system shall have.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/model/detail/explore.hpp>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// One thread of the system, used once.
class carrier {
 public:
  void start(std::function<void()> body) {
    body_ = std::move(body);
    set(started);
  }
  // It will not be started.
  void forget() {
    std::uint32_t seen = unused;
    state_.compare_exchange_strong(seen, ended, std::memory_order_relaxed);
    futex_wake_all(state_);
  }
  void work() {
    index_ = model::thread_index();
    wait_while(unused);
    if (state_.load(std::memory_order_acquire) != started) return;
    body_();
    set(ended);
  }
  void join() { wait_while(started); }
  bool is_current() const noexcept { return index_ == model::thread_index(); }

 private:
  static constexpr std::uint32_t unused = 0, started = 1, ended = 2;

  void set(std::uint32_t state) {
    state_.store(state, std::memory_order_release);
    futex_wake_all(state_);
  }
  void wait_while(std::uint32_t state) {
    while (state_.load(std::memory_order_acquire) == state) futex_wait(state_, state);
  }

  std::function<void()> body_;
  std::size_t index_ = 0;
  atomic<std::uint32_t> state_{unused, "thread"};
};

// All threads that the system has in an execution.
class system_threads {
 public:
  system_threads(model::execution& run, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      carrier& one = *all_.emplace_back(std::make_unique<carrier>());
      run.thread("pool's thread", [&one] { one.work(); });
    }
    present = this;
  }
  // After the end of the last pool.
  void end() {
    for (; used_ < all_.size(); ++used_) all_[used_]->forget();
  }

  // Under the lock of the only pool that starts threads.
  static carrier& next() {
    if (present->used_ == present->all_.size())
      throw std::system_error(std::make_error_code(std::errc::not_enough_memory));
    return *present->all_[present->used_++];
  }

 private:
  static inline system_threads* present = nullptr;
  std::vector<std::unique_ptr<carrier>> all_;
  std::size_t used_ = 0;
};

class system_thread {
 public:
  system_thread() noexcept = default;
  template <class Body>
  explicit system_thread(Body body) : carrier_(&system_threads::next()) {
    carrier_->start(body);
  }
  bool joinable() const noexcept { return carrier_ != nullptr; }
  void join() { std::exchange(carrier_, nullptr)->join(); }
  void detach() noexcept { carrier_ = nullptr; }
  friend bool is_current(const system_thread& one) noexcept { return one.carrier_ && one.carrier_->is_current(); }

 private:
  carrier* carrier_ = nullptr;
};

inline void join(system_thread& ended) { ended.join(); }

}}}  // namespace hocket::detail
