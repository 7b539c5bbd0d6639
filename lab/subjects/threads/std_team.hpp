#pragma once
// Threads for std_thread.cpp.
#include <condition_variable>
#include <mutex>

#include "primitives/primitives.hpp"

namespace lab {

// Threads that all run one body at a time.
class team {
 public:
  explicit team(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this, i] { live(i); });
  }
  ~team() {
    begin(0);
    for (std::thread& one : threads_) one.join();
  }

  // `body(void*, i)` in each, until all have ended.
  void run(void (*body)(void*, std::size_t), void* what) {
    body_ = body;
    what_ = what;
    begin(threads_.size());
    std::unique_lock held{mutex_};
    changed_.wait(held, [this] { return running_ == 0; });
  }

 private:
  void begin(std::size_t count) {
    {
      std::lock_guard held{mutex_};
      running_ = count;
      ++generation_;
    }
    changed_.notify_all();
  }

  void live(std::size_t i) {
    for (std::uint64_t seen = 0;; ++seen) {
      std::unique_lock held{mutex_};
      changed_.wait(held, [&] { return generation_ != seen; });
      if (running_ == 0) return;
      held.unlock();
      body_(what_, i);
      held.lock();
      if (--running_ == 0) changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t generation_ = 0;
  std::size_t running_ = 0;
  void (*body_)(void*, std::size_t) = nullptr;
  void* what_ = nullptr;
  std::vector<std::thread> threads_;
};

template <class Body>
void in_threads(std::size_t count, Body body) {
  static team all(count);  // a process has one workload, and so one count
  all.run([](void* what, std::size_t i) { (*static_cast<Body*>(what))(i); }, &body);
}

}  // namespace lab
