// pthread_mutex_lock, trylock, timedlock, clocklock, unlock: in a scope with options.mutexes the fiber owns the lock.
//
// The lock is libc's: threads and code outside of these scopes acquire it as before. A fiber acquires it by trylock. If
// trylock fails, the fiber waits in the mutex's queue. Libc lacks two things:
//   Owners. All fibers of a thread are one owner to libc. So mutex_owners records which fiber owns a recursive or
//   error-checking mutex.
//   Wake-ups. Libc wakes only threads. So unlock() wakes the first fiber in its own thread's queue. Queues are per
//   thread, because hooked fibers do not move. An unlock on another thread does not see the queue. So if another thread
//   holds the mutex, this thread waits for 50 us; then the first waiter tries again after 50 us, 100 us ... 10 ms.
//   pthread_cond_wait() unlocks inside of libc, and blocks the thread.
// A fiber queues behind the waiters. Otherwise a fiber that unlocks and locks again would always win.
//
// No stop and no deadline ends the wait: callers do not check the result of lock(), and would continue without the
// lock. So a destructor that runs while a kill unwinds waits, too.
//
// If a fiber must not park (options.may_park, dlopen(), a signal handler, inside of a wait in the queue), it owns what
// it locks, and blocks its thread.
//
// Hazard: if a coroutine outside of these scopes, for example a task, waits for a mutex that a fiber of its thread
// holds, then the thread blocks for ever, because that fiber cannot run. Detected cases are fatal.
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/wait/seam/context_block.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
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
#include <array>
#include <cerrno>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

namespace {

constinit primitive::atomic<bool> hooking_enabled{false};

// Whether any scope of the process has set options.mutexes.
bool are_hooked() noexcept {
  // ORDER: relaxed, pairs with the store in hook_mutexes(): the thread of a scope sees its own store.
  return hooking_enabled.load(std::memory_order_relaxed);
}

// --- libc's kinds: these numbers are part of its static initialisers

int kind_of(const pthread_mutex_t& mutex) noexcept { return mutex.__data.__kind & 3; }
bool has_owner(const pthread_mutex_t& mutex) noexcept {
  return kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE || kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK;
}
bool is_locked_by_this_thread(const pthread_mutex_t& mutex) noexcept {
  return mutex.__data.__owner == static_cast<int>(::syscall(SYS_gettid));
}
bool is_acquired(int result) noexcept { return result == 0 || result == EOWNERDEAD; }

// --- the caller

struct lock_caller {
  const context* fiber;  // the future owner; null: libc's own rules
  bool can_park;
};

lock_caller current_caller() noexcept {
  const context* const fiber = current_fiber();
  const scope* const in = scope_access::find(fiber);
  if (!in || scope_access::is_unhooked(*in) || !scope_access::has_mutexes(*in)) return {nullptr, false};
  return {fiber, scope_access::may_park(*in) && !scope_access::only_tries(*in) && !in_signal_handler()};
}

mutex_owners::entry* entry_of(const pthread_mutex_t& mutex) noexcept {
  return has_owner(mutex) ? mutex_owners::of_thread().find(mutex) : nullptr;
}

// Records `self` as an owner if libc's `result` of its lock is a success. Returns the result.
int record_owner(pthread_mutex_t& mutex, const context& self, int result) noexcept {
  if (!is_acquired(result) || !has_owner(mutex)) return result;
  if (auto* const entry = entry_of(mutex)) {
    ++entry->depth;
  } else if (!mutex_owners::of_thread().add(mutex, &self)) {
    next.pthread_mutex_unlock(&mutex);
    return EAGAIN;
  }
  return result;
}

int try_lock(pthread_mutex_t& mutex, const context& self) noexcept {
  const auto* const entry = entry_of(mutex);
  if (entry && entry->fiber != &self) return EBUSY;
  return record_owner(mutex, self, next.pthread_mutex_trylock(&mutex));
}

// --- the queues of this thread: bare pointers, because a destructor at the end of a thread may unlock

class queued_waiter {
 public:
  explicit queued_waiter(const pthread_mutex_t& mutex) noexcept;
  queued_waiter(const queued_waiter&) = delete;
  queued_waiter& operator=(const queued_waiter&) = delete;
  ~queued_waiter();

  bool is_first() const noexcept;
  void wake() noexcept { wakeup_.set(); }
  void wait(time_point limit) noexcept;

  // Null: no fiber waits for it.
  static queued_waiter* first_for(const pthread_mutex_t* mutex) noexcept;

 private:
  const pthread_mutex_t* const mutex_;
  queued_waiter* next_ = nullptr;
  queued_waiter* previous_;
  unsync::event wakeup_;
  const hocket::detail::stack_pin pin_{this, "the wait for a mutex"};
};

void wake_first(const pthread_mutex_t* mutex) noexcept {
  if (queued_waiter* const first = queued_waiter::first_for(mutex)) first->wake();
}

// One queue for all mutexes with the same hash: a walk meets few waiters of other mutexes.
struct wait_queue {
  queued_waiter* first;
  queued_waiter* last;
};
thread_local constinit std::array<wait_queue, 64> wait_queues{};

wait_queue& queue_of(const pthread_mutex_t* mutex) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(mutex));
  return wait_queues[address * 0x9E3779B97F4A7C15U >> 58U];
}

queued_waiter::queued_waiter(const pthread_mutex_t& mutex) noexcept
    : mutex_(&mutex), previous_(std::exchange(queue_of(&mutex).last, this)) {
  (previous_ ? previous_->next_ : queue_of(&mutex).first) = this;
}
queued_waiter::~queued_waiter() {
  (previous_ ? previous_->next_ : queue_of(mutex_).first) = next_;
  (next_ ? next_->previous_ : queue_of(mutex_).last) = previous_;
  wake_first(mutex_);
}

queued_waiter* queued_waiter::first_for(const pthread_mutex_t* mutex) noexcept {
  queued_waiter* waiter = queue_of(mutex).first;
  while (waiter && waiter->mutex_ != mutex) waiter = waiter->next_;
  return waiter;
}
bool queued_waiter::is_first() const noexcept { return first_for(mutex_) == this; }

// Locks inside of the wait itself block the thread: the allocator of the wait's frame may lock a mutex.
class no_second_wait {
 public:
  no_second_wait() noexcept : in_(scope_access::innermost()) { scope_access::begin_trying(in_); }
  no_second_wait(const no_second_wait&) = delete;
  no_second_wait& operator=(const no_second_wait&) = delete;
  ~no_second_wait() { scope_access::end_trying(in_); }

 private:
  scope& in_;
};

// While it lives, a fiber that a kill unwinds may wait.
class unwinding_pause {
 public:
  unwinding_pause() noexcept : self_(current_context().strand()) {
    if (self_ && !self_->unwinding()) self_ = nullptr;
    if (self_) self_->end_unwinding();
  }
  unwinding_pause(const unwinding_pause&) = delete;
  unwinding_pause& operator=(const unwinding_pause&) = delete;
  ~unwinding_pause() {
    if (self_) self_->begin_unwinding();
  }

 private:
  hocket::detail::strand_state* self_;
};

void queued_waiter::wait(time_point limit) noexcept {
  count(counted::waits);
  const no_second_wait guard;
  const unwinding_pause pause;
  const hocket::detail::context_block unstopped({nullptr, time_point::max(), current_context().bindings()});
  static_cast<void>(await(wakeup_.wait().until(limit)));
  wakeup_.reset();
}

// --- a fiber that parks

constexpr duration first_pause = std::chrono::microseconds(50), longest_pause = std::chrono::milliseconds(10);

// Most locks of other threads are held for less time than a park takes. A lock of this thread fails at once: if the
// thread waited, the fiber that holds the lock could not unlock it.
int wait_for_other_thread(pthread_mutex_t& mutex, const context& self) noexcept {
  if (entry_of(mutex) || is_locked_by_this_thread(mutex)) return EBUSY;
  timespec limit{};
  ::clock_gettime(CLOCK_MONOTONIC, &limit);
  limit = timespec_of(duration_of(limit) + first_pause);
  const int result = next.pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &limit);
  return result == ETIMEDOUT ? EBUSY : record_owner(mutex, self, result);
}

bool is_over(time_point limit) noexcept { return limit != time_point::max() && now() >= limit; }

int lock_in_queue(pthread_mutex_t& mutex, const context& self, time_point limit) noexcept {
  queued_waiter waiter(mutex);
  for (duration pause = first_pause;; pause = std::min(pause * 2, longest_pause)) {
    waiter.wait(waiter.is_first() ? std::min(limit, after(pause)) : limit);
    const int result = waiter.is_first() ? try_lock(mutex, self) : EBUSY;
    if (result != EBUSY) return result;
    if (is_over(limit)) return ETIMEDOUT;
  }
}

int lock_until(pthread_mutex_t& mutex, const context& self, time_point limit) noexcept {
  const int error_before = errno;
  int result = queued_waiter::first_for(&mutex) ? EBUSY : try_lock(mutex, self);
  if (result == EBUSY && !queued_waiter::first_for(&mutex)) result = wait_for_other_thread(mutex, self);
  if (result == EBUSY) result = is_over(limit) ? ETIMEDOUT : lock_in_queue(mutex, self, limit);
  errno = error_before;
  return result;
}

// --- callers that block the thread

constexpr const char* self_deadlock = "a mutex that is locked on this thread already would block it for ever";
constexpr const char* remedy = "lock it in fibers alone, in a hook::scope with options.mutexes; or use hocket::mutex";

int lock_on_thread(pthread_mutex_t& mutex) noexcept {
  if (has_owner(mutex)) return next.pthread_mutex_lock(&mutex);
  const int result = next.pthread_mutex_trylock(&mutex);
  if (result != EBUSY) return result;
  hocket::detail::expects(!current_executor() || !is_locked_by_this_thread(mutex), self_deadlock, remedy);
  return next.pthread_mutex_lock(&mutex);
}

// --- the calls: not inlined, so that a process without such scopes pays only a jump

// The owner locks again, in any scope.
int lock_again(pthread_mutex_t& mutex, const mutex_owners::entry& entry) noexcept {
  if (kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
  return try_lock(mutex, *entry.fiber);
}

// A fiber of this thread owns it, and the caller cannot park.
int refuse(const pthread_mutex_t& mutex) noexcept {
  hocket::detail::expects(kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK, self_deadlock, remedy);
  return EDEADLK;
}

[[gnu::noinline]] int lock(pthread_mutex_t& mutex) noexcept {
  const lock_caller caller = current_caller();
  if (caller.fiber) count(counted::calls);
  const auto* const entry = entry_of(mutex);
  if (entry && entry->fiber == current_fiber()) return lock_again(mutex, *entry);
  if (caller.can_park) return lock_until(mutex, *caller.fiber, time_point::max());
  if (entry) return refuse(mutex);
  const int result = lock_on_thread(mutex);
  return caller.fiber ? record_owner(mutex, *caller.fiber, result) : result;
}

[[gnu::noinline]] int lock_by_clock(pthread_mutex_t& mutex, clockid_t clock, const timespec& limit) noexcept {
  const lock_caller caller = current_caller();
  if (caller.fiber) count(counted::calls);
  const auto* const entry = entry_of(mutex);
  if (entry && entry->fiber == current_fiber()) return lock_again(mutex, *entry);
  if (!caller.can_park) {
    if (entry) return refuse(mutex);
    const int result = next.pthread_mutex_clocklock(&mutex, clock, &limit);
    return caller.fiber ? record_owner(mutex, *caller.fiber, result) : result;
  }
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  if (limit.tv_nsec < 0 || limit.tv_nsec >= 1'000'000'000) {  // libc checks it only if it must wait
    const int result = try_lock(mutex, *caller.fiber);
    return result == EBUSY ? EINVAL : result;
  }
  timespec present{};
  ::clock_gettime(clock, &present);
  return lock_until(mutex, *caller.fiber, after(duration_of(limit) - duration_of(present)));
}

[[gnu::noinline]] int try_once(pthread_mutex_t& mutex) noexcept {
  const auto* const entry = entry_of(mutex);
  if (entry) return entry->fiber == current_fiber() ? try_lock(mutex, *entry->fiber) : EBUSY;
  const context* const self = current_caller().fiber;
  return self ? try_lock(mutex, *self) : next.pthread_mutex_trylock(&mutex);
}

[[gnu::noinline]] int unlock(pthread_mutex_t& mutex) noexcept {
  if (auto* const entry = entry_of(mutex)) {
    if (entry->fiber != current_fiber()) return EPERM;
    if (--entry->depth == 0) mutex_owners::of_thread().remove(*entry);
  }
  const pthread_mutex_t* const key = &mutex;  // after the unlock the mutex may be destroyed
  const int result = next.pthread_mutex_unlock(&mutex);
  wake_first(key);
  return result;
}

}  // namespace

void hook_mutexes() noexcept {
  // ORDER: relaxed, pairs with the load in are_hooked().
  hooking_enabled.store(true, std::memory_order_relaxed);
}

}}}  // namespace hocket::hook

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
