// A counting semaphore: permits, and a line of those who wait for some.
//
//   semaphore slots(16);
//   auto mine = co_await slots.acquire(2);     // result<semaphore::permits>: given back when `mine` ends
//   ...
//   mine->forget();                            // not given back: whoever takes over says slots.release(2)
//
// Guarantees. First come, first served, whatever is asked for: who wants many is not overtaken by those who want few,
// and blocks them until it is served or its wait is ended by others; then the next are looked at at once. Permits are
// never lost: a coroutine that was granted some and killed before it runs has them until it unwinds. release() neither
// suspends nor runs foreign code, may be called from any thread, and needs no permit to have been acquired. What was
// done before a release is visible to whoever gets the permits. While nobody waits, acquire and release are one atomic
// read-modify-write each.
//
// A semaphore must outlive its permits and every release(); only one that releases a single permit is done with the
// semaphore as soon as somebody has got that.
//
// The word, 64 bits:
//
//   bit  0      somebody waits: exactly while the line is not empty, both under the inner mutex
//   bits 1..63  free permits
//
// While bit 0 is clear, the word changes by one read-modify-write of anybody. While it is set, it changes under the
// inner mutex only, and whoever changes it, or takes the first out of the line, then serves the line: from the front,
// as far as the permits last. So the first in line always wants more than there is. Who is served has left the line;
// the grants are made outside of the mutex, and what could not be granted is released again.
//
// Ending the wait of the first in line can so grant the next ones, inside of that end.
#pragma once
#include <hocket/core/operation.hpp>
#include <hocket/core/strength.hpp>
#include <cstddef>
#include <utility>

namespace hocket::inline HOCKET_ABI {

template <class Strength>
class basic_semaphore final : private wait_source {
  class acquiring;

 public:
  class permits;

  static constexpr std::size_t max = static_cast<std::size_t>(-1) >> 2;

  explicit basic_semaphore(std::size_t free) noexcept : word_(count(free)) {}
  basic_semaphore(const basic_semaphore&) = delete;
  basic_semaphore& operator=(const basic_semaphore&) = delete;
  ~basic_semaphore() { Strength::drain(mutex_); }

  // Waits for `n` permits: result<permits>.
  [[nodiscard]] operation<acquiring> acquire(std::size_t n = 1,
                                             std::source_location at = std::source_location::current()) noexcept {
    return operation<acquiring>(acquiring(*this, n), at);
  }

  // Never suspends. Empty (false) if there are fewer, or somebody waits.
  [[nodiscard]] permits try_acquire(std::size_t n = 1) noexcept { return try_take(n) ? permits(*this, n) : permits(); }

  // Adds permits. More than `max` in all is fatal.
  void release(std::size_t n = 1) noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    word seen = word_.load(std::memory_order_relaxed);
    do {
      if (seen & waited) [[unlikely]]
        return release_to_waiters(n);
      // ORDER: release, pairs with the compare-exchange in try_take().
    } while (!word_.compare_exchange_weak(seen, sum(seen, n), std::memory_order_release, std::memory_order_relaxed));
  }

  // How many are free now: outdated at once if others use the semaphore.
  std::size_t available() const noexcept {
    // ORDER: relaxed, pairs with nothing: no more than a hint.
    return static_cast<std::size_t>(word_.load(std::memory_order_relaxed) >> 1);
  }

 private:
  using word = std::uint64_t;
  static constexpr word waited = 1;

  static word count(std::size_t n) noexcept {
    expects(n <= max, "more permits than a semaphore can count",
            "a negative number, perhaps? The limit is semaphore::max");
    return static_cast<word>(n) << 1;
  }
  static word sum(word seen, std::size_t n) noexcept {
    const word more = seen + count(n);  // cannot overflow: both are below half of what the word can hold
    expects((more >> 1) <= max, "a semaphore was given more permits than it can count",
            "release what was acquired, once; the limit is semaphore::max");
    return more;
  }

  bool try_take(std::size_t n) noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    word seen = word_.load(std::memory_order_relaxed);
    do {
      if ((seen & waited) || seen < count(n)) return false;
      // ORDER: acquire, pairs with the operations on the word in release() and release_to_waiters().
    } while (!word_.compare_exchange_weak(seen, seen - count(n), std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }
  void begin(suspension& wait, waiter& entry, acquiring& request) noexcept;
  [[gnu::noinline, gnu::cold]] void release_to_waiters(std::size_t n) noexcept;
  waiter* serve() noexcept;
  static std::size_t grant_all(waiter* first) noexcept;
  static acquiring& request_of(waiter& entry) noexcept { return *static_cast<acquiring*>(entry.resource); }

  const char* what() const noexcept override { return "a semaphore"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter& entry) noexcept override;

  typename Strength::template word<word> word_;
  typename Strength::mutex mutex_;
  list<waiter> line_;  // guarded by mutex_
};

// Acquired permits. Move-only; gives them back when it is destroyed.
template <class Strength>
class [[nodiscard]] basic_semaphore<Strength>::permits {
 public:
  permits() noexcept = default;
  permits(permits&& other) noexcept : from_(std::exchange(other.from_, nullptr)), count_(other.count_) {}
  permits& operator=(permits&& other) noexcept {
    permits old(std::move(other));
    std::swap(from_, old.from_);
    std::swap(count_, old.count_);
    return *this;
  }
  ~permits() { release(); }

  explicit operator bool() const noexcept { return from_ != nullptr; }
  std::size_t count() const noexcept { return from_ ? count_ : 0; }

  // Any thread. Gives them back earlier than the end of this object, which is empty then.
  void release() noexcept {
    if (auto* from = std::exchange(from_, nullptr)) from->release(count_);
  }
  // Keeps them away from the semaphore; returns how many. Somebody releases them by hand, or they are gone.
  std::size_t forget() noexcept { return std::exchange(from_, nullptr) ? count_ : 0; }

 private:
  friend class basic_semaphore;
  permits(basic_semaphore& from, std::size_t n) noexcept : from_(&from), count_(n) {}
  basic_semaphore* from_ = nullptr;
  std::size_t count_ = 0;
};

template <class Strength>
class basic_semaphore<Strength>::acquiring {
 public:
  using value_type = permits;
  acquiring(basic_semaphore& from, std::size_t n) noexcept : from_(&from), wanted_(n) {}
  bool try_now() noexcept { return from_->try_take(wanted_); }
  void begin(suspension& wait, waiter& entry) noexcept { from_->begin(wait, entry, *this); }
  result<permits> take() noexcept { return permits(*from_, wanted_); }

 private:
  friend class basic_semaphore;
  basic_semaphore* from_;
  std::size_t wanted_;
  waiter* next_ = nullptr;  // in the chain of those who are served together
};

extern template class basic_semaphore<strength::shared>;
extern template class basic_semaphore<strength::unsync>;

using semaphore = basic_semaphore<strength::shared>;
namespace unsync {
using semaphore = basic_semaphore<strength::unsync>;
}

}  // namespace hocket::inline HOCKET_ABI
