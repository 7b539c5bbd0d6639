// A mutex that one writer holds alone, or any number of readers together.
//
//   shared_mutex m;
//   auto held = co_await m.lock();             // result<shared_mutex::guard>: for writing
//   auto seen = co_await m.lock_shared();      // result<shared_mutex::shared_guard>: for reading
//   if (!held) return held.error();            // the wait was cancelled or timed out
//   ...                                        // unlocked by the guards
//
// Guarantees. First come, first served: a reader that comes while a writer waits gets in line behind it, so neither
// readers nor writers starve; readers that stand in line one after the other are let in together. When the wait of a
// writer is ended by others, the readers behind it are let in at once, if readers hold the mutex. Neither locking nor
// unlocking runs foreign code. An uncontended lock does not suspend; each lock and each unlock is one atomic
// read-modify-write. unlock never fails, and may happen on another thread than the lock did. What was done under the
// mutex is visible to the next writer, and what a writer did also to the next readers. Whoever has locked it for
// writing last may destroy it, when it has unlocked it and nobody else can want it.
//
// A wait can be cancelled and timed out. A coroutine that was granted the mutex and killed before it runs has it until
// it unwinds, at its next wait at the latest.
//
// What it does not do. It is not recursive, and a reader cannot become a writer: who wants to write unlocks first, and
// looks again after the lock. A reader that locks again waits for ever if a writer has come between. At check level
// `debug` a scheduled coroutine that locks what it has locked for writing is fatal, and so is one that unlocks what
// another one has locked for writing (see mutex). Who reads is not known, but how many do. A shared mutex must not be
// destroyed while it is held (fatal at check level `debug`).
//
// All readers write to one word: where they hold it for but a moment, on many threads, a mutex costs no more.
// unsync::shared_mutex is for the coroutines of one thread; see core/detail/strength.hpp.
//
// How. It is a line of those who wait for permits (sync/detail/permit_line.hpp): a reader takes one, a writer all.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/holder.hpp>
#include <hocket/sync/detail/permit_line.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_shared_mutex final : private detail::permit_line<Strength> {
  using base = detail::permit_line<Strength>;
  enum class use { reading, writing };
  template <use Use>
  class held;
  template <use Use>
  class locking;

 public:
  using guard = held<use::writing>;
  using shared_guard = held<use::reading>;

  basic_shared_mutex() noexcept : base(base::most) {}
  ~basic_shared_mutex() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->has_all(base::most), "a shared mutex was destroyed while it is held",
                      "let its guards end first");
  }

  // Waits for the mutex, for writing: result<guard>.
  [[nodiscard]] primitive::operation<locking<use::writing>> lock(call_site at = this_call_site()) noexcept {
    return primitive::operation<locking<use::writing>>(std::in_place, at, *this);
  }
  // For reading: result<shared_guard>.
  [[nodiscard]] primitive::operation<locking<use::reading>> lock_shared(call_site at = this_call_site()) noexcept {
    return primitive::operation<locking<use::reading>>(std::in_place, at, *this);
  }

  // Never suspends. The guard is empty (false) if somebody has the mutex.
  [[nodiscard]] guard try_lock() noexcept { return try_now<use::writing>() ? taken<use::writing>() : guard(); }
  // Never suspends. The guard is empty (false) if a writer has the mutex, or somebody waits for it.
  [[nodiscard]] shared_guard try_lock_shared() noexcept {
    return try_now<use::reading>() ? taken<use::reading>() : shared_guard();
  }

 private:
  static constexpr std::size_t permits(use how) noexcept { return how == use::writing ? base::most : 1; }

  template <use Use>
  bool try_now() noexcept {
    return this->try_take(permits(Use));
  }
  template <use Use>
  held<Use> taken() noexcept {
    if constexpr (Use == use::writing) holder_.take();
    return held<Use>(*this);
  }
  template <use Use>
  void unlock() noexcept {
    if constexpr (Use == use::writing)
      holder_.give_back("a coroutine unlocked a shared mutex that another one has locked for writing");
    this->give(permits(Use));
  }
  bool begin(primitive::suspension& wait, primitive::waiter& entry, typename base::request& wish) noexcept {
    holder_.expect_not_mine("a coroutine locked a shared mutex that it has locked for writing",
                            "a shared mutex is not recursive: unlock it first, or pass the guard down");
    return base::begin(wait, entry, wish);
  }

  const char* what() const noexcept override { return "a shared mutex"; }
  const void* holder() const noexcept override { return holder_.who(); }
  primitive::wait_source::tally counted() const noexcept override {
    const std::size_t free = this->last_free();
    if (free == 0) return {"held by", 1, "writer"};
    return free == base::most ? primitive::wait_source::tally{}
                              : primitive::wait_source::tally{"held by", base::most - free, "reader"};
  }

  [[no_unique_address]] detail::holder<Strength> holder_;  // the writer
};

// A held shared mutex, for one of both uses. Move-only; unlocks when it is destroyed.
template <class Strength>
template <typename basic_shared_mutex<Strength>::use Use>
class [[nodiscard]] basic_shared_mutex<Strength>::held {
 public:
  held() noexcept = default;
  held(held&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
  held& operator=(held&& other) noexcept {
    held old(std::move(other));
    std::swap(mutex_, old.mutex_);
    return *this;
  }
  ~held() {
    if (mutex_) mutex_->template unlock<Use>();
  }

  explicit operator bool() const noexcept { return mutex_ != nullptr; }

  // Any thread, by the coroutine that has locked it. Earlier than the end of the guard, which is empty then.
  void unlock() noexcept {
    detail::expects(mutex_ != nullptr, "an empty guard of a shared mutex was unlocked",
                    "it was moved from, or unlocked before");
    std::exchange(mutex_, nullptr)->template unlock<Use>();
  }

 private:
  friend class basic_shared_mutex;
  explicit held(basic_shared_mutex& of) noexcept : mutex_(&of) {}
  basic_shared_mutex* mutex_ = nullptr;
};

template <class Strength>
template <typename basic_shared_mutex<Strength>::use Use>
class basic_shared_mutex<Strength>::locking {
 public:
  using value_type = held<Use>;
  explicit locking(basic_shared_mutex& of) noexcept : mutex_(&of), wish_{permits(Use)} {}
  bool try_now() noexcept { return mutex_->template try_now<Use>(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return mutex_->begin(wait, entry, wish_);
  }
  primitive::wait_source& source() const noexcept { return *mutex_; }
  result<held<Use>> take() noexcept { return mutex_->template taken<Use>(); }

 private:
  basic_shared_mutex* mutex_;
  typename base::request wish_;
};

extern template class basic_shared_mutex<strength::shared>;
extern template class basic_shared_mutex<strength::unsync>;

using shared_mutex = basic_shared_mutex<strength::shared>;
namespace unsync {
using shared_mutex = basic_shared_mutex<strength::unsync>;
}

}}  // namespace hocket
