// A mutex for coroutines and threads: who has to wait suspends (a thread blocks), and is woken in the order of coming.
//
//   hocket::mutex m;
//   auto held = co_await m.lock();             // result<mutex::guard>; a fiber and a thread say await(m.lock())
//   if (!held) return held.error();            // the wait was cancelled or timed out
//   ...                                        // unlocked by the guard
//
// Guarantees. First come, first served: a mutex that is unlocked while somebody waits belongs to the first of those,
// who is posted to its executor; nobody overtakes. Neither locking nor unlocking runs foreign code. An uncontended
// lock() does not suspend; lock and unlock are one atomic read-modify-write each. unlock never fails, and may happen on
// another thread than the lock did: a task that moves between workers takes its guards along. What was done under the
// mutex is visible to the next holder. The mutex may be destroyed by its holder, as soon as nobody else can want it.
//
// A wait can be cancelled and timed out. A coroutine that was granted the mutex and killed before it runs has it until
// it unwinds, at its next wait at the latest.
//
// What it does not do. It is not recursive, and it belongs to the coroutine that locked it: at check level `debug` a
// scheduled coroutine that locks what it holds is fatal, and so is one that unlocks what another one has locked. A
// guard that is handed on, as the result or an argument of a spawned coroutine, ends there; what anyone may give back
// is a semaphore of one. Code outside of scheduled coroutines, and the children of a when_all, are not told apart. A
// generator or a raw coroutine locks for whoever resumes it. It may be held over a suspension; for a plain std::mutex
// that would be an error. A mutex must not be destroyed while it is held (fatal at check level `debug`).
//
// unsync::mutex is for the coroutines of one thread; see core/detail/strength.hpp.
#pragma once
#include <hocket/core/detail/operation.hpp>
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

  basic_mutex() noexcept : base(base::here) {}
  ~basic_mutex() {
    detail::debug_expects(this->was_here(), "a mutex was destroyed while it is held", "let its guards end first");
  }

  // Waits for the mutex: result<guard>.
  [[nodiscard]] primitive::operation<locking> lock(call_site at = this_call_site()) noexcept {
    return primitive::operation<locking>(std::in_place, at, *this);
  }

  // Never suspends. The guard is empty (false) if somebody has the mutex.
  [[nodiscard]] guard try_lock() noexcept { return this->try_take() ? taken() : guard(); }

 private:
  friend class basic_condition<Strength>;

  void locked_again() noexcept { holder_.take(); }  // by a condition's wait that is over
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
  const void* holder() const noexcept override { return holder_.who(); }

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

  // Any thread, by the coroutine that has locked it. Earlier than the end of the guard, which is empty then.
  void unlock() noexcept {
    detail::expects(mutex_ != nullptr, "an empty mutex guard was unlocked", "it was moved from, or unlocked before");
    std::exchange(mutex_, nullptr)->unlock();
  }

 private:
  friend class basic_mutex;
  friend class basic_condition<Strength>;
  explicit guard(basic_mutex& held) noexcept : mutex_(&held) {}
  basic_mutex* mutex_ = nullptr;
};

template <class Strength>
class basic_mutex<Strength>::locking {
 public:
  using value_type = guard;
  explicit locking(basic_mutex& mutex) noexcept : mutex_(&mutex) {}
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
