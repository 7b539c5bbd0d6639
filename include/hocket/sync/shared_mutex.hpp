// A mutex that one writer holds alone, or any number of readers together.
//
//   shared_mutex m;
//   auto writer = co_await m.lock();           // result<shared_mutex::guard>
//   auto reader = co_await m.lock_shared();    // result<shared_mutex::shared_guard>
//   if (!writer) return writer.error();        // the wait was cancelled or timed out
//   ...                                        // unlocked by the guards
//
// Guarantees.
//   - First come, first served: a reader that arrives while a writer waits queues behind it, so neither readers nor
//     writers starve. Consecutive readers in the queue are let in together.
//   - If a stop or deadline ends the wait of a writer while readers hold the mutex, the readers behind it are let in at
//     once.
//   - Neither locking nor unlocking runs foreign code.
//   - An uncontended lock does not suspend. Each lock and each unlock is one atomic read-modify-write.
//   - unlock never fails, and may happen on another thread than the lock.
//   - Everything under the mutex is visible to the next writer. Everything that a writer did is visible to the next
//     readers, too.
//
// Cancellation. A wait can be cancelled and timed out. If a coroutine is granted the mutex and then killed before it
// runs, it holds the mutex until it unwinds, at its next wait at the latest.
//
// Do not.
//   - Lock recursively. At check level `debug` it is fatal if a scheduled coroutine locks a mutex that it has locked
//     for writing. If a reader locks again and a writer has queued in between, the reader waits for ever.
//   - Upgrade: a reader cannot become a writer. To write, unlock, lock for writing, and check the data again.
//   - Unlock for another coroutine. At check level `debug` it is fatal if a scheduled coroutine unlocks a mutex that
//     another one has locked for writing (see mutex).
//   - Destroy a shared mutex that is held (fatal at check level `debug`). The last writer may destroy the mutex after
//     its unlock if no other code can want it.
//
// Limits. The mutex counts its readers, and does not know which coroutines they are.
//
// Cost. All readers write to one word: if many threads hold the mutex only briefly, a plain mutex costs no more.
//
// unsync::shared_mutex is for the coroutines of one thread; see core/wait/seam/strength.hpp.
//
// Implementation. A queue of waiters for permits (sync/detail/permit_queue.hpp): a reader takes one permit, a writer
// all.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/holder.hpp>
#include <hocket/sync/detail/permit_queue.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_shared_mutex final : private detail::permit_queue<Strength> {
  using base = detail::permit_queue<Strength>;
  enum class use { reading, writing };
  template <use Use>
  class held;
  template <use Use>
  class locking;

 public:
  using guard = held<use::writing>;
  using shared_guard = held<use::reading>;

  basic_shared_mutex() noexcept : base(base::max_permits) {}
  ~basic_shared_mutex() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->has_all(base::max_permits), "a shared mutex was destroyed while it is held",
                      "let its guards end first");
  }

  // Waits for the mutex, as a writer: result<guard>.
  [[nodiscard]] primitive::operation<locking<use::writing>> lock(call_site site = this_call_site()) noexcept {
    return primitive::operation<locking<use::writing>>(std::in_place, site, *this);
  }
  // Waits for the mutex, as a reader: result<shared_guard>.
  [[nodiscard]] primitive::operation<locking<use::reading>> lock_shared(call_site site = this_call_site()) noexcept {
    return primitive::operation<locking<use::reading>>(std::in_place, site, *this);
  }

  // Never suspends. The guard is empty (false) if the mutex is held.
  [[nodiscard]] guard try_lock() noexcept { return try_now<use::writing>() ? taken<use::writing>() : guard(); }
  // Never suspends. The guard is empty (false) if a writer holds the mutex, or if there is a waiter.
  [[nodiscard]] shared_guard try_lock_shared() noexcept {
    return try_now<use::reading>() ? taken<use::reading>() : shared_guard();
  }

 private:
  static constexpr std::size_t permits(use purpose) noexcept { return purpose == use::writing ? base::max_permits : 1; }

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
  bool begin(primitive::suspension& wait, primitive::waiter& entry, typename base::request& demand) noexcept {
    holder_.expect_not_mine("a coroutine locked a shared mutex that it has locked for writing",
                            "a shared mutex is not recursive: unlock it first, or pass the guard down");
    return base::begin(wait, entry, demand);
  }

  const char* what() const noexcept override { return "a shared mutex"; }
  const void* holder() const noexcept override { return holder_.coroutine(); }
  primitive::wait_source::tally counted() const noexcept override {
    const std::size_t free = this->last_free();
    if (free == 0) return {"held by", 1, "writer"};
    return free == base::max_permits ? primitive::wait_source::tally{}
                                     : primitive::wait_source::tally{"held by", base::max_permits - free, "reader"};
  }

  [[no_unique_address]] detail::holder<Strength> holder_;  // the writer
};

// A shared mutex held for reading or writing. Move-only; unlocks when it is destroyed.
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

  // Any thread, by the coroutine that locked the mutex. Unlocks before the guard ends. The guard is then empty.
  void unlock() noexcept {
    detail::expects(mutex_ != nullptr, "an empty guard of a shared mutex was unlocked",
                    "it was moved from, or unlocked before");
    std::exchange(mutex_, nullptr)->template unlock<Use>();
  }

 private:
  friend class basic_shared_mutex;
  explicit held(basic_shared_mutex& shared) noexcept : mutex_(&shared) {}
  basic_shared_mutex* mutex_ = nullptr;
};

template <class Strength>
template <typename basic_shared_mutex<Strength>::use Use>
class basic_shared_mutex<Strength>::locking {
 public:
  using value_type = held<Use>;
  explicit locking(basic_shared_mutex& shared) noexcept : mutex_(&shared), request_{permits(Use)} {}
  bool try_now() noexcept { return mutex_->template try_now<Use>(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return mutex_->begin(wait, entry, request_);
  }
  primitive::wait_source& source() const noexcept { return *mutex_; }
  result<held<Use>> take() noexcept { return mutex_->template taken<Use>(); }

 private:
  basic_shared_mutex* mutex_;
  typename base::request request_;
};

extern template class basic_shared_mutex<strength::shared>;
extern template class basic_shared_mutex<strength::unsync>;

using shared_mutex = basic_shared_mutex<strength::shared>;
namespace unsync {
using shared_mutex = basic_shared_mutex<strength::unsync>;
}

}}  // namespace hocket
