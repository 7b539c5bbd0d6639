// pthread_mutex_lock, trylock, timedlock, clocklock, unlock: in a scope with options.mutexes the fiber owns the lock.
//
// The lock is libc's: threads and code outside of such scopes take it as before. A fiber takes it by trylock, and if
// that fails waits in the mutex's queue. Libc lacks two things:
//   Owners. All fibers of a thread are one owner to libc. So mutex_owners notes which fiber owns a recursive or
//   error-checking mutex.
//   Wakes. Libc wakes only threads. So unlock() wakes the first fiber in its own thread's queue; queues are per thread,
//   since hooked fibers do not move. An unlock on another thread does not see the queue. So if another thread holds the
//   mutex, this thread waits for 50 us; then the first in the queue tries again after 50 us, 100 us ... 10 ms.
//   pthread_cond_wait() unlocks inside of libc, and blocks the thread.
// A fiber queues behind the waiters. Otherwise a fiber that unlocks and locks again would always win.
//
// No stop and no deadline ends the wait: callers do not check the result of lock(), and would continue without the
// lock. So a destructor that runs while a kill unwinds waits, too.
//
// If a fiber must not park (options.may_park, dlopen(), a signal handler, inside of a wait in the queue), it owns what
// it locks, and blocks its thread.
//
// Hazard: if a task, or another coroutine outside of such a scope, waits for a mutex that a fiber of its thread holds,
// then the thread blocks for ever, because that fiber cannot run. Detected cases are fatal.
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

constinit primitive::atomic<bool> wanted{false};

// Whether any scope of the process has set options.mutexes.
bool are_hooked() noexcept {
  // ORDER: relaxed, pairs with the store in hook_mutexes(): the thread of such a scope sees its own store.
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

// --- the caller

struct asker {
  const context* fiber;  // the future owner; null: libc's own rules
  bool parks;            // if it must wait
};

asker who_asks() noexcept {
  const context* const fiber = current_fiber();
  const scope* const in = scope_access::find(fiber);
  if (!in || scope_access::is_unhooked(*in) || !scope_access::has_mutexes(*in)) return {nullptr, false};
  return {fiber, scope_access::may_park(*in) && !scope_access::only_tries(*in) && !in_signal_handler()};
}

mutex_owners::entry* entry_of(const pthread_mutex_t& mutex) noexcept {
  return has_owner(mutex) ? mutex_owners::of_thread().find(mutex) : nullptr;
}

// Notes libc's `answer` to a lock by `self`, and returns it.
int noted(pthread_mutex_t& mutex, const context& self, int answer) noexcept {
  if (!is_taken(answer) || !has_owner(mutex)) return answer;
  if (auto* const entry = entry_of(mutex)) {
    ++entry->depth;
  } else if (!mutex_owners::of_thread().add(mutex, &self)) {
    next.pthread_mutex_unlock(&mutex);
    return EAGAIN;
  }
  return answer;
}

int try_lock(pthread_mutex_t& mutex, const context& self) noexcept {
  const auto* const entry = entry_of(mutex);
  if (entry && entry->fiber != &self) return EBUSY;
  return noted(mutex, self, next.pthread_mutex_trylock(&mutex));
}

// --- the queues of this thread: bare pointers, because a destructor at the end of a thread may unlock

class place_in_line {
 public:
  explicit place_in_line(const pthread_mutex_t& mutex) noexcept;
  place_in_line(const place_in_line&) = delete;
  place_in_line& operator=(const place_in_line&) = delete;
  ~place_in_line();

  bool is_first() const noexcept;
  void wake() noexcept { turn_.set(); }
  void wait(time_point limit) noexcept;

  // Null: no fiber waits for it.
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

// One queue for all mutexes with the same hash: a walk meets few waiters of other mutexes.
struct line {
  place_in_line* first;
  place_in_line* last;
};
thread_local constinit std::array<line, 64> lines{};

line& line_of(const pthread_mutex_t* mutex) noexcept {
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(mutex));
  return lines[address * 0x9E3779B97F4A7C15U >> 58U];
}

place_in_line::place_in_line(const pthread_mutex_t& mutex) noexcept
    : mutex_(&mutex), previous_(std::exchange(line_of(&mutex).last, this)) {
  (previous_ ? previous_->next_ : line_of(&mutex).first) = this;
}
place_in_line::~place_in_line() {
  (previous_ ? previous_->next_ : line_of(mutex_).first) = next_;
  (next_ ? next_->previous_ : line_of(mutex_).last) = previous_;
  wake_first(mutex_);
}

place_in_line* place_in_line::first_for(const pthread_mutex_t* mutex) noexcept {
  place_in_line* one = line_of(mutex).first;
  while (one && one->mutex_ != mutex) one = one->next_;
  return one;
}
bool place_in_line::is_first() const noexcept { return first_for(mutex_) == this; }

// Locks inside of the wait itself block the thread: its frame may come from an allocator that locks.
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

void place_in_line::wait(time_point limit) noexcept {
  count(counted::waits);
  const no_second_wait alone;
  const unwinding_pause pause;
  const hocket::detail::context_block unstopped({nullptr, time_point::max(), current_context().bindings()});
  static_cast<void>(await(turn_.wait().until(limit)));
  turn_.reset();
}

// --- a fiber that parks

constexpr duration first_pause = std::chrono::microseconds(50), longest_pause = std::chrono::milliseconds(10);

// Most locks of other threads are held for less time than a park takes. A lock of this thread must not be waited for:
// its fiber could not unlock it.
int wait_for_other_thread(pthread_mutex_t& mutex, const context& self) noexcept {
  if (entry_of(mutex) || is_locked_by_this_thread(mutex)) return EBUSY;
  timespec limit{};
  ::clock_gettime(CLOCK_MONOTONIC, &limit);
  limit = timespec_of(duration_of(limit) + first_pause);
  const int answer = next.pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &limit);
  return answer == ETIMEDOUT ? EBUSY : noted(mutex, self, answer);
}

bool is_over(time_point limit) noexcept { return limit != time_point::max() && now() >= limit; }

int lock_in_line(pthread_mutex_t& mutex, const context& self, time_point limit) noexcept {
  place_in_line here(mutex);
  for (duration pause = first_pause;; pause = std::min(pause * 2, longest_pause)) {
    here.wait(here.is_first() ? std::min(limit, after(pause)) : limit);
    const int answer = here.is_first() ? try_lock(mutex, self) : EBUSY;
    if (answer != EBUSY) return answer;
    if (is_over(limit)) return ETIMEDOUT;
  }
}

int lock_until(pthread_mutex_t& mutex, const context& self, time_point limit) noexcept {
  const int kept = errno;
  int answer = place_in_line::first_for(&mutex) ? EBUSY : try_lock(mutex, self);
  if (answer == EBUSY && !place_in_line::first_for(&mutex)) answer = wait_for_other_thread(mutex, self);
  if (answer == EBUSY) answer = is_over(limit) ? ETIMEDOUT : lock_in_line(mutex, self, limit);
  errno = kept;
  return answer;
}

// --- callers that block the thread

constexpr const char* for_ever = "a mutex that is locked on this thread already would block it for ever";
constexpr const char* remedy = "lock it in fibers alone, in a hook::scope with options.mutexes; or use hocket::mutex";

int lock_on_thread(pthread_mutex_t& mutex) noexcept {
  if (has_owner(mutex)) return next.pthread_mutex_lock(&mutex);
  const int answer = next.pthread_mutex_trylock(&mutex);
  if (answer != EBUSY) return answer;
  hocket::detail::expects(!current_executor() || !is_locked_by_this_thread(mutex), for_ever, remedy);
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
  hocket::detail::expects(kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK, for_ever, remedy);
  return EDEADLK;
}

[[gnu::noinline]] int lock(pthread_mutex_t& mutex) noexcept {
  const asker who = who_asks();
  if (who.fiber) count(counted::calls);
  const auto* const entry = entry_of(mutex);
  if (entry && entry->fiber == current_fiber()) return lock_again(mutex, *entry);
  if (who.parks) return lock_until(mutex, *who.fiber, time_point::max());
  if (entry) return refuse(mutex);
  const int answer = lock_on_thread(mutex);
  return who.fiber ? noted(mutex, *who.fiber, answer) : answer;
}

[[gnu::noinline]] int lock_by_clock(pthread_mutex_t& mutex, clockid_t clock, const timespec& limit) noexcept {
  const asker who = who_asks();
  if (who.fiber) count(counted::calls);
  const auto* const entry = entry_of(mutex);
  if (entry && entry->fiber == current_fiber()) return lock_again(mutex, *entry);
  if (!who.parks) {
    if (entry) return refuse(mutex);
    const int answer = next.pthread_mutex_clocklock(&mutex, clock, &limit);
    return who.fiber ? noted(mutex, *who.fiber, answer) : answer;
  }
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return EINVAL;
  if (limit.tv_nsec < 0 || limit.tv_nsec >= 1'000'000'000) {  // libc checks it only if it must wait
    const int answer = try_lock(mutex, *who.fiber);
    return answer == EBUSY ? EINVAL : answer;
  }
  timespec present{};
  ::clock_gettime(clock, &present);
  return lock_until(mutex, *who.fiber, after(duration_of(limit) - duration_of(present)));
}

[[gnu::noinline]] int try_once(pthread_mutex_t& mutex) noexcept {
  const auto* const entry = entry_of(mutex);
  if (entry) return entry->fiber == current_fiber() ? try_lock(mutex, *entry->fiber) : EBUSY;
  const context* const self = who_asks().fiber;
  return self ? try_lock(mutex, *self) : next.pthread_mutex_trylock(&mutex);
}

[[gnu::noinline]] int unlock(pthread_mutex_t& mutex) noexcept {
  if (auto* const entry = entry_of(mutex)) {
    if (entry->fiber != current_fiber()) return EPERM;
    if (--entry->depth == 0) mutex_owners::of_thread().remove(*entry);
  }
  const pthread_mutex_t* const which = &mutex;  // after the unlock the mutex may be destroyed
  const int answer = next.pthread_mutex_unlock(&mutex);
  wake_first(which);
  return answer;
}

}  // namespace

void hook_mutexes() noexcept {
  // ORDER: relaxed, pairs with the load in are_hooked().
  wanted.store(true, std::memory_order_relaxed);
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
