// A mutex for coroutines and threads. Waiters suspend (threads block) and are woken in the order of arrival.
//
//   hocket::mutex m;
//   auto held = co_await m.lock();             // result<mutex::guard>; a fiber and a thread say await(m.lock())
//   if (!held) return held.error();            // the wait was cancelled or timed out
//   ...                                        // unlocked by the guard
//
// Guarantees.
//   - First come, first served: an unlock hands the mutex to the first waiter and posts that waiter to its executor. No
//     coroutine overtakes.
//   - Neither locking nor unlocking runs foreign code.
//   - An uncontended lock() does not suspend. An uncontended lock and unlock are one atomic read-modify-write each.
//   - unlock never fails, and may happen on another thread than the lock: a task that moves between workers takes its
//     guards along.
//   - Everything under the mutex is visible to the next holder.
//   - The mutex may be held over a suspension; for a plain std::mutex that would be an error.
//
// Cancellation. A wait can be cancelled and timed out. If a coroutine is granted the mutex and then killed before it
// runs, it holds the mutex until it unwinds, at its next wait at the latest.
//
// Do not.
//   - Lock recursively. At check level `debug` it is fatal if a scheduled coroutine locks a mutex that it holds.
//   - Unlock for another coroutine: the mutex belongs to the coroutine that locked it. At check level `debug` it is
//     fatal if a scheduled coroutine unlocks a mutex that another one has locked. A guard that is handed on, as the
//     result or an argument of a spawned coroutine, ends there. If any coroutine may release, use a semaphore of one
//     permit.
//   - Destroy a mutex that is held (fatal at check level `debug`). The last holder may destroy the mutex as soon as no
//     other code can want it.
//
// Limits. The checks do not distinguish code outside of scheduled coroutines, nor the children of a when_all. A
// generator or a raw coroutine locks for the coroutine that resumes it.
//
// unsync::mutex is for the coroutines of one thread; see core/wait/seam/strength.hpp.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/baton.hpp>
#include <hocket/sync/detail/holder.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_condition;

template <class Strength>
class basic_mutex final : private detail::baton<Strength> {
  using base = detail::baton<Strength>;
  class locking;

 public:
  class guard;

  basic_mutex() noexcept : base(base::free) {}
  ~basic_mutex() {
    detail::debug_expects(this->was_free(), "a mutex was destroyed while it is held", "let its guards end first");
  }

  // Waits for the mutex: result<guard>.
  [[nodiscard]] primitive::operation<locking> lock(call_site site = this_call_site()) noexcept {
    return primitive::operation<locking>(std::in_place, site, *this);
  }

  // Never suspends. The guard is empty (false) if the mutex is held.
  [[nodiscard]] guard try_lock() noexcept { return this->try_take() ? taken() : guard(); }

 private:
  friend class basic_condition<Strength>;

  void record_relock() noexcept { holder_.take(); }  // called at the end of a condition's wait
  guard taken() noexcept {
    holder_.take();
    return guard(*this);
  }
  void unlock() noexcept {
    holder_.give_back("a coroutine unlocked a mutex that another one has locked");
    this->put_back();
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    holder_.expect_not_mine("a coroutine locked a mutex that it holds",
                            "a mutex is not recursive: unlock it first, or pass the guard down");
    base::begin(wait, entry);
  }

  const char* what() const noexcept override { return "a mutex"; }
  const void* holder() const noexcept override { return holder_.coroutine(); }

  [[no_unique_address]] detail::holder<Strength> holder_;
};

// A held mutex. Move-only; unlocks when it is destroyed.
template <class Strength>
class [[nodiscard]] basic_mutex<Strength>::guard {
 public:
  guard() noexcept = default;
  guard(guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
  guard& operator=(guard&& other) noexcept {
    guard old(std::move(other));
    std::swap(mutex_, old.mutex_);
    return *this;
  }
  ~guard() {
    if (mutex_) mutex_->unlock();
  }

  explicit operator bool() const noexcept { return mutex_ != nullptr; }

  // Any thread, by the coroutine that locked the mutex. Unlocks before the guard ends. The guard is then empty.
  void unlock() noexcept {
    detail::expects(mutex_ != nullptr, "an empty mutex guard was unlocked", "it was moved from, or unlocked before");
    std::exchange(mutex_, nullptr)->unlock();
  }

 private:
  friend class basic_mutex;
  friend class basic_condition<Strength>;
  explicit guard(basic_mutex& mutex) noexcept : mutex_(&mutex) {}
  basic_mutex* mutex_ = nullptr;
};

template <class Strength>
class basic_mutex<Strength>::locking {
 public:
  using value_type = guard;
  explicit locking(basic_mutex& source) noexcept : mutex_(&source) {}
  bool try_now() noexcept { return mutex_->try_take(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { mutex_->begin(wait, entry); }
  result<guard> take() noexcept { return mutex_->taken(); }

 private:
  basic_mutex* mutex_;
};

extern template class basic_mutex<strength::shared>;
extern template class basic_mutex<strength::unsync>;

using mutex = basic_mutex<strength::shared>;
namespace unsync {
using mutex = basic_mutex<strength::unsync>;
}

}}  // namespace hocket
