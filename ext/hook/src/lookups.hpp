// Name lookups: calls of libc's resolver that their fiber may leave.
//
// A resolver waits for its name servers as long as it likes, and cannot be stopped. So a lookup owns its arguments and
// its result, and runs on a thread of its own kind: at most 32 threads, half as many as the pool of blocking() has. If
// the name servers are silent, then files, and hosts that need no lookup, do not wait for them.
//
//   queued  -- a thread takes it ----------------> running -- set() --> over: the fiber reads the result
//   queued or running -- the fiber is ended -----> abandoned: a queued one never runs, the result of a running one is
//                                                  dropped
//
// Two references: the fiber's and the queue's, which a thread takes over. The last one destroys the lookup. Hazard: the
// fiber may be resumed and destroy the event while the thread is still in its set(). Prevented by the thread's own
// reference.
//
// Threads start on demand, and end after 10 s without a lookup. They are detached: the end of the process does not wait
// for a name server. A child of fork() has none of them, and begins with an empty queue.
//
// Locks. The mutex guards the queue and the counts; no lookup runs under it. Threads sleep on `posted_`.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/list.hpp>
#include <hocket/sync/event.hpp>

#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

class lookup : public hocket::detail::list_node {
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
  friend class lookup_threads;
  virtual void run() noexcept = 0;
  bool is_abandoned() const noexcept;

  event over_;
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

void forget_lookups_in_child() noexcept;

}}}  // namespace hocket::hook
