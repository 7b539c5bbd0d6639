#include "lookups.hpp"

#include <hocket/base/clock.hpp>
#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/detail/never_destroyed.hpp>

#include "caller.hpp"
#include "counting.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <new>
#include <pthread.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

class lookup_threads {
 public:
  static lookup_threads& of_process() noexcept {
    static hocket::detail::never_destroyed<lookup_threads> all;
    return *all;
  }

  // 0, or an error number: no thread could be started.
  int enqueue(lookup& job) noexcept {
    {
      const primitive::locked guard(mutex_);
      queue_.push_back(job);
      ++queued_;
      // ORDER: relaxed, pairs with the load in sleep(): both are made under the mutex.
      posted_.fetch_add(1, std::memory_order_relaxed);
      if (queued_ > idle_ && threads_ < most_threads && start_thread()) ++threads_;
      if (threads_ == 0) return remove(job), EAGAIN;
    }
    hocket::detail::futex_wake_one(posted_);
    return 0;
  }

 private:
  static constexpr unsigned most_threads = 32;
  static constexpr std::chrono::seconds idle_time{10};

  // Under the mutex.
  void remove(lookup& job) noexcept {
    hocket::detail::list<lookup>::erase(job);
    --queued_;
  }

  // Under the mutex, which the thread takes first of all. It blocks all signals, as its maker does meanwhile.
  bool start_thread() noexcept {
    sigset_t all_signals, before;
    sigfillset(&all_signals);
    ::pthread_sigmask(SIG_SETMASK, &all_signals, &before);
    pthread_t thread{};
    const int error = ::pthread_create(
        &thread, nullptr, [](void* self) -> void* { return static_cast<lookup_threads*>(self)->run(), nullptr; }, this);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error == 0) ::pthread_detach(thread);
    return error == 0;
  }

  void run() noexcept {
    ::pthread_setname_np(::pthread_self(), "lookup");
    while (lookup* const job = next()) {
      if (!job->is_abandoned()) job->run();
      job->over_.set();
      job->release();
    }
  }

  // Null: the thread ends.
  lookup* next() noexcept {
    for (bool is_late = false;;) {
      std::uint32_t posts = 0;
      {
        const primitive::locked guard(mutex_);
        if (!queue_.empty()) {
          lookup& first = *queue_.begin();
          remove(first);
          return &first;
        }
        if (is_late) return --threads_, nullptr;
        ++idle_;
        // ORDER: relaxed, pairs with the fetch_add in enqueue(): both are made under the mutex.
        posts = posted_.load(std::memory_order_relaxed);
      }
      is_late = !hocket::detail::futex_wait_until(posted_, posts, deadline_after(steady_clock().now(), idle_time));
      const primitive::locked guard(mutex_);
      --idle_;
    }
  }

  primitive::thread_mutex mutex_;
  hocket::detail::list<lookup> queue_;  // guarded by mutex_
  unsigned queued_ = 0;                 // guarded by mutex_
  unsigned threads_ = 0;                // guarded by mutex_
  unsigned idle_ = 0;                   // guarded by mutex_: threads that sleep
  primitive::atomic<std::uint32_t> posted_{0};
};

bool lookup::is_abandoned() const noexcept {
  // ORDER: relaxed, pairs with the fetch_sub in release(): a hint, an abandoned lookup may run.
  return references_.load(std::memory_order_relaxed) == 1;
}

void lookup::release() noexcept {
  // ORDER: acq_rel, pairs with itself: the last owner destroys after all others.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool lookup::run_elsewhere() noexcept {
  if (only_tries()) return run(), true;
  count(counted::pooled);
  // ORDER: relaxed, pairs with the fetch_sub in release(): nobody else has this lookup yet.
  references_.store(2, std::memory_order_relaxed);
  if (const int error = lookup_threads::of_process().enqueue(*this)) {
    errno = error;
    return release(), false;
  }
  return wait_until_set(over_);
}

void forget_lookups_in_child() noexcept { ::new (&lookup_threads::of_process()) lookup_threads; }

}}}  // namespace hocket::hook
