// pthread_mutex_lock, trylock, timedlock, clocklock, unlock: in a scope with options.mutexes the fiber owns the lock.
//
// The lock is libc's: threads, and whatever is in no such scope, take it as ever. A fiber takes it by trylock, and
// waits in line where that fails. What libc does not know:
//   Fibers of one thread are one owner to it. So who owns a recursive or error-checking mutex stands in mutex_owners.
//   It wakes threads. So unlock() wakes the first in the line of its own thread; the line is a thread's, since
//   hooked fibers do not move. Another thread that unlocks does not know the line: its first asks again after
//   50 us, 100 us ... 10 ms. pthread_cond_wait() unlocks inside of libc; it blocks the thread.
// Who comes while others stand in line goes behind them: else a fiber that unlocks and locks again would always win.
//
// No stop and no deadline ends the wait: callers do not look at what lock() gives, and would go on without the lock.
//
// What is not such a fiber and runs on the thread of one, a task for instance, cannot wait for it without blocking
// it for ever. That is fatal, as far as it is seen.
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/core/detail/context_block.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/sync/event.hpp>

#include "caller.hpp"
#include "counting.hpp"
#include "mutex_owners.hpp"
#include "mutexes.hpp"
#include "next.hpp"
#include "scope_access.hpp"
#include "signal_scope.hpp"
#include "times.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace hocket::inline HOCKET_ABI::hook {

namespace {

using hocket::detail::control_block;

constinit primitive::atomic<bool> wanted{false};

// Whether any scope of the process has asked for them.
bool are_hooked() noexcept {
  // ORDER: relaxed, pairs with the store in hook_mutexes(): who opens such a scope sees its own store.
  return wanted.load(std::memory_order_relaxed);
}

// --- libc's kinds: these numbers are part of its static initialisers

int kind_of(const pthread_mutex_t& mutex) noexcept { return mutex.__data.__kind & 3; }
bool has_owner(const pthread_mutex_t& mutex) noexcept {
  return kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE || kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK;
}
bool is_locked_by_this_thread(const pthread_mutex_t& mutex) noexcept {
  return mutex.__data.__owner == static_cast<int>(::syscall(SYS_gettid));
}
bool is_taken(int answer) noexcept { return answer == 0 || answer == EOWNERDEAD; }

// --- who locks

// The fiber that is to own what is locked here; null: libc's own rules.
control_block* owning_fiber() noexcept {
  if (!is_hooked() || in_signal_handler()) return nullptr;
  const scope& in = scope_access::innermost();
  return scope_access::has_mutexes(in) && !scope_access::only_tries(in) ? hocket::detail::running_fiber() : nullptr;
}

mutex_owners::entry* entry_of(const pthread_mutex_t& mutex) noexcept {
  return has_owner(mutex) ? mutex_owners::of_thread().find(mutex) : nullptr;
}

// Once, as `self`.
int try_lock(pthread_mutex_t& mutex, control_block& self) noexcept {
  mutex_owners::entry* const entry = entry_of(mutex);
  if (entry && entry->fiber != &self) return EBUSY;
  const int answer = next.pthread_mutex_trylock(&mutex);
  if (!is_taken(answer) || !has_owner(mutex)) return answer;
  if (entry) {
    ++entry->depth;
  } else if (!mutex_owners::of_thread().add(mutex, &self)) {
    next.pthread_mutex_unlock(&mutex);
    return EAGAIN;
  }
  return answer;
}

// --- the line of this thread: bare pointers, for a destructor at the end of a thread may unlock

class place_in_line {
 public:
  explicit place_in_line(const pthread_mutex_t& mutex) noexcept;
  place_in_line(const place_in_line&) = delete;
  place_in_line& operator=(const place_in_line&) = delete;
  ~place_in_line();

  bool is_first() const noexcept;
  void wake() noexcept { turn_.set(); }
  void wait(time_point limit) noexcept;

  // Null: nobody waits for it. O(n) in those that wait on this thread.
  static place_in_line* first_for(const pthread_mutex_t* mutex) noexcept;

 private:
  const pthread_mutex_t* const mutex_;
  place_in_line* next_ = nullptr;
  place_in_line* previous_;
  unsync::event turn_;
  const hocket::detail::stack_pin pin_{this, "the wait for a mutex"};
};

void wake_first(const pthread_mutex_t* mutex) noexcept {
  if (place_in_line* const first = place_in_line::first_for(mutex)) first->wake();
}

thread_local constinit place_in_line* first_here = nullptr;
thread_local constinit place_in_line* last_here = nullptr;

place_in_line::place_in_line(const pthread_mutex_t& mutex) noexcept
    : mutex_(&mutex), previous_(std::exchange(last_here, this)) {
  (previous_ ? previous_->next_ : first_here) = this;
}
place_in_line::~place_in_line() {
  (previous_ ? previous_->next_ : first_here) = next_;
  (next_ ? next_->previous_ : last_here) = previous_;
  wake_first(mutex_);
}

place_in_line* place_in_line::first_for(const pthread_mutex_t* mutex) noexcept {
  place_in_line* one = first_here;
  while (one && one->mutex_ != mutex) one = one->next_;
  return one;
}
bool place_in_line::is_first() const noexcept { return first_for(mutex_) == this; }

void place_in_line::wait(time_point limit) noexcept {
  count(counted::waits);
  const hocket::detail::context_block unstopped({nullptr, time_point::max(), current_context().bindings()});
  static_cast<void>(await(turn_.wait().until(limit)));
  turn_.reset();
}

// --- the calls: not in line, so that a process without such scopes pays but for a jump

constexpr duration first_pause = std::chrono::microseconds(50), longest_pause = std::chrono::milliseconds(10);

int lock_in_line(pthread_mutex_t& mutex, control_block& self, time_point limit) noexcept {
  place_in_line here(mutex);
  for (duration pause = first_pause;; pause = std::min(pause * 2, longest_pause)) {
    here.wait(here.is_first() ? std::min(limit, after(pause)) : limit);
    const int answer = here.is_first() ? try_lock(mutex, self) : EBUSY;
    if (answer != EBUSY) return answer;
    if (limit != time_point::max() && now() >= limit) return ETIMEDOUT;
  }
}

// By a fiber that is to own it.
int lock_until(pthread_mutex_t& mutex, control_block& self, time_point limit) noexcept {
  count(counted::calls);
  if (const auto* entry = entry_of(mutex); entry && entry->fiber == &self && kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK)
    return EDEADLK;
  // Who owns it already does not stand in line behind those who wait for that.
  const bool may_try = !place_in_line::first_for(&mutex) || entry_of(mutex);
  const int answer = may_try ? try_lock(mutex, self) : EBUSY;
  return answer == EBUSY ? lock_in_line(mutex, self, limit) : answer;
}

// By anybody else, also by a fiber in dlopen() or in a signal handler.
int lock_elsewhere(pthread_mutex_t& mutex) noexcept {
  constexpr const char* what = "a mutex that a fiber of this thread has locked would block the thread for ever";
  constexpr const char* remedy = "lock it in a hook::scope with options.mutexes, or use hocket::mutex";
  if (has_owner(mutex)) {
    const auto* const entry = entry_of(mutex);
    control_block* const self = hocket::detail::running_fiber();
    if (entry && entry->fiber == self && kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE) return try_lock(mutex, *self);
    hocket::detail::expects(!entry || kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK, what, remedy);
    return next.pthread_mutex_lock(&mutex);
  }
  const int answer = next.pthread_mutex_trylock(&mutex);
  if (answer != EBUSY) return answer;
  hocket::detail::expects(!current_executor() || !is_locked_by_this_thread(mutex), what, remedy);
  return next.pthread_mutex_lock(&mutex);
}

[[gnu::noinline]] int lock(pthread_mutex_t& mutex) noexcept {
  control_block* const self = owning_fiber();
  return self ? lock_until(mutex, *self, time_point::max()) : lock_elsewhere(mutex);
}

[[gnu::noinline]] int lock_by_clock(pthread_mutex_t& mutex, clockid_t clock, const timespec& limit) noexcept {
  control_block* const self = owning_fiber();
  if (!self) return next.pthread_mutex_clocklock(&mutex, clock, &limit);
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  timespec present{};
  ::clock_gettime(clock, &present);
  if (is_valid(limit)) return lock_until(mutex, *self, after(duration_of(limit) - duration_of(present)));
  const int answer = try_lock(mutex, *self);  // the time is looked at if it must wait
  return answer == EBUSY ? EINVAL : answer;
}

// Also by a fiber that has left the scope in which it locked it before.
[[gnu::noinline]] int try_once(pthread_mutex_t& mutex) noexcept {
  control_block* const self = entry_of(mutex) ? hocket::detail::running_fiber() : owning_fiber();
  if (self) return try_lock(mutex, *self);
  return entry_of(mutex) ? EBUSY : next.pthread_mutex_trylock(&mutex);
}

[[gnu::noinline]] int unlock(pthread_mutex_t& mutex) noexcept {
  if (auto* const entry = entry_of(mutex)) {
    if (entry->fiber != hocket::detail::running_fiber()) return EPERM;
    if (--entry->depth == 0) mutex_owners::of_thread().remove(*entry);
  }
  const pthread_mutex_t* const which = &mutex;  // it may be destroyed when it is unlocked
  const int answer = next.pthread_mutex_unlock(&mutex);
  wake_first(which);
  return answer;
}

}  // namespace

void hook_mutexes() noexcept {
  // ORDER: relaxed, pairs with the load in are_hooked().
  wanted.store(true, std::memory_order_relaxed);
}

}  // namespace hocket::inline HOCKET_ABI::hook

namespace hook = hocket::hook;

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!hook::are_hooked()) [[likely]]
    return hook::next.pthread_mutex_lock(mutex);
  return hook::lock(*mutex);
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (!hook::are_hooked()) [[likely]]
    return hook::next.pthread_mutex_trylock(mutex);
  return hook::try_once(*mutex);
}
int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* limit) noexcept {
  return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, limit);
}
int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) noexcept {
  if (!hook::are_hooked()) [[likely]]
    return hook::next.pthread_mutex_clocklock(mutex, clock, limit);
  return hook::lock_by_clock(*mutex, clock, *limit);
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (!hook::are_hooked()) [[likely]]
    return hook::next.pthread_mutex_unlock(mutex);
  return hook::unlock(*mutex);
}

}  // extern "C"
