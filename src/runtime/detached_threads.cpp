#include <hocket/runtime/seam/detached_threads.hpp>

#include <hocket/base/seam/mutex.hpp>
#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/platform/thread_name.hpp"
#include "runtime/system_thread.hpp"

#include <csignal>
#include <new>
#include <pthread.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct detached_threads::state {
  explicit state(const limits& of_owner) noexcept : limits(of_owner) {}

  const detached_threads::limits limits;
  primitive::thread_mutex mutex;
  // Guarded by the mutex:
  std::size_t running = 0;
  std::size_t queued = 0;
  std::unique_ptr<job> first;
  job* last = nullptr;  // valid if `first` is not null
};

// Hazard: between two locks, of which the first finds all threads busy and the second queues the job, the threads may
// end. Prevented by a single lock.
bool detached_threads::post(std::unique_ptr<job> work) noexcept {
  state* const shared = state_.get(limits_);
  if (!shared) return false;
  {
    const primitive::locked guard(shared->mutex);
    if (shared->running >= shared->limits.threads) return enqueue(*shared, work);
    ++shared->running;
  }
  return start_thread(*shared, std::move(work));
}

std::size_t detached_threads::running() noexcept {
  state* const shared = state_.get(limits_);
  if (!shared) return 0;
  const primitive::locked guard(shared->mutex);
  return shared->running;
}

// Of a thread that is counted.
bool detached_threads::start_thread(state& shared, std::unique_ptr<job> work) noexcept {
  try {
    system_thread thread([&shared, raw = work.get()] { run(shared, std::unique_ptr<job>(raw)); });
    static_cast<void>(work.release());
    thread.detach();
    return true;
  } catch (...) {  // the system starts no thread
    return abandon_start(shared, work);
  }
}

// The thread that was counted has not started: queues its job for the others. If there is none, destroys the jobs that
// no thread would take, one by one: a list that destroys itself needs a stack as deep as the queue.
bool detached_threads::abandon_start(state& shared, std::unique_ptr<job>& work) noexcept {
  std::unique_ptr<job> dropped;
  {
    const primitive::locked guard(shared.mutex);
    if (--shared.running != 0) return enqueue(shared, work);
    dropped = std::move(shared.first);
    shared.queued = 0;
  }
  while (dropped) dropped = std::move(dropped->next_);
  return false;
}

// Under the mutex, while a thread runs. False: the queue is full.
bool detached_threads::enqueue(state& shared, std::unique_ptr<job>& work) noexcept {
  if (shared.queued >= shared.limits.queue) return false;
  ++shared.queued;
  job* const added = work.get();
  (shared.first ? shared.last->next_ : shared.first) = std::move(work);
  shared.last = added;
  return true;
}

// A library that writes to a socket without MSG_NOSIGNAL must not end the process: its signal stays pending, and ends
// with the thread.
static void block_sigpipe() noexcept {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void detached_threads::run(state& shared, std::unique_ptr<job> work) noexcept {
  name_this_thread(shared.limits.name.c_str(), "detached");
  set_mask_of_library_thread();
  block_sigpipe();
  for (; work; work = take(shared)) {
    work->run();
    work.reset();
  }
}

// The next job. Null: the thread no longer counts, and ends.
std::unique_ptr<detached_threads::job> detached_threads::take(state& shared) noexcept {
  const primitive::locked guard(shared.mutex);
  std::unique_ptr<job> next = std::move(shared.first);
  if (!next) {
    --shared.running;
    return next;
  }
  --shared.queued;
  shared.first = std::move(next->next_);
  return next;
}

}}}  // namespace hocket::detail
