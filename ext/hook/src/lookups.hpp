// Name lookups: calls of libc's resolver that their fiber may leave.
//
// A resolver may wait for its name servers without limit, and cannot be stopped. So a lookup owns its arguments and its
// result, and runs on a thread for lookups (runtime/seam/detached_threads.hpp), beside lookups of pg and redis. If the
// name servers are silent, then calls on files, and hosts that need no lookup, do not wait for them.
//
//   queued  -- a thread takes it ----------------> running -- set() --> over: the fiber reads the result
//   queued or running -- the fiber is ended -----> abandoned: a queued one never runs, the result of a running one is
//                                                  dropped
//
// Two references: one of the fiber, one of the job that the threads queue, run and destroy. The last release destroys
// the lookup. Hazard: if the fiber is resumed while the thread is still in the event's set(), then it may destroy the
// event too early. Prevented by the job's own reference.
//
// Hooked calls. The threads have no fiber, so the calls of a resolver block them. The fiber that posts a job holds no
// lock while it allocates or starts a thread, where another library's hooks may suspend it. A child of fork() begins
// with an empty queue, and its calls are not hooked.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/sync/event.hpp>

#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

class lookup {
 public:
  lookup() noexcept = default;
  lookup(const lookup&) = delete;
  lookup& operator=(const lookup&) = delete;
  virtual ~lookup() = default;

  // Queues the lookup and waits for its end. False: there is no result, see errno. On a hooked fiber, once. If the
  // fiber must not wait, run() is called in place.
  bool run_elsewhere() noexcept;

  void release() noexcept;

 private:
  class job;
  virtual void run() noexcept = 0;
  bool is_abandoned() const noexcept;

  event over_;
  bool has_run_ = false;  // written before over_ is set
  primitive::atomic<std::uint32_t> references_{1};
};

// Owns the fiber's reference.
template <class Lookup>
class lookup_ptr {
 public:
  explicit lookup_ptr(Lookup* owned) noexcept : lookup_(owned) {}
  lookup_ptr(const lookup_ptr&) = delete;
  lookup_ptr& operator=(const lookup_ptr&) = delete;
  ~lookup_ptr() {
    if (lookup_) lookup_->release();
  }
  explicit operator bool() const noexcept { return lookup_ != nullptr; }
  Lookup* operator->() const noexcept { return lookup_; }

 private:
  Lookup* const lookup_;
};

}}}  // namespace hocket::hook
