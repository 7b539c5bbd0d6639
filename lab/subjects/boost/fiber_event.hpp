// An event of Boost.Fiber: a mutex, a condition variable and a bool.
#pragma once
#include <boost/fiber/all.hpp>

#include <chrono>
#include <mutex>
#include <utility>

namespace lab {

// Stays set until one wait has seen it.
class fiber_event {
 public:
  void set() {
    {
      std::lock_guard held{mutex_};
      set_ = true;
    }
    changed_.notify_one();
  }
  bool wait() {
    std::unique_lock held{mutex_};
    changed_.wait(held, [this] { return set_; });
    return std::exchange(set_, false);
  }
  bool wait_within(std::chrono::nanoseconds time) {
    std::unique_lock held{mutex_};
    return changed_.wait_for(held, time, [this] { return set_; }) && std::exchange(set_, false);
  }

 private:
  boost::fibers::mutex mutex_;
  boost::fibers::condition_variable changed_;
  bool set_ = false;
};

}  // namespace lab
