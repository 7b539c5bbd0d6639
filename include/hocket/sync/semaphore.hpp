// A counting semaphore. Waiters get permits in the order of arrival.
//
//   semaphore slots(16);
//   auto permits = co_await slots.acquire(2);  // result<semaphore::permits>: released when `permits` ends
//   ...
//   permits->forget();                         // not released: the new owner says slots.release(2)
//
// Guarantees.
//   - First come, first served, whatever the count: a waiter for many permits is not overtaken by waiters for few. It
//     blocks them until it is served or a stop or deadline ends its wait; then the next waiters are served at once.
//   - Permits are never lost: if a coroutine is granted permits and then killed before it runs, it holds them until it
//     unwinds.
//   - release() neither suspends nor runs foreign code, may be called from any thread, and needs no acquire before.
//   - Everything before a release() is visible to the waiter that gets the permits.
//
// Cost. Without waiters, acquire and release are one atomic read-modify-write each.
//
// Limits.
//   - acquire(0) waits for its turn only: it is granted when no waiter is in front of it, and gives `permits` that
//     count 0 and are true. Without waiters, try_acquire(0) does so, too. release(0) does nothing.
//   - If a waiter asks for more permits than there will ever be, it waits until a stop or deadline ends its wait, and
//     blocks the waiters behind it.
//   - A semaphore counts at most `max` permits. It is fatal to construct it with more, to ask for more, and to release
//     beyond that.
//
// Lifetime. A semaphore must outlive its permits and every release(). Exception: a release of a single permit does not
// touch the semaphore after another coroutine has got that permit. Destroying a semaphore that has a waiter is fatal at
// check level `debug`.
//
// Implementation: sync/detail/permit_queue.hpp. Its serve(), in src/sync/permit_queue.cpp, chooses the next waiter.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/permit_queue.hpp>
#include <cstddef>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_semaphore final : private detail::permit_queue<Strength> {
  using base = detail::permit_queue<Strength>;
  class acquiring;

 public:
  class permits;

  static constexpr std::size_t max = base::max_permits;

  // `free`: the initial permits.
  explicit basic_semaphore(std::size_t free) noexcept : base(free) {}
  ~basic_semaphore() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "a semaphore was destroyed while it has a waiter",
                      "let it outlive the waits: release permits, or cancel the waiters, first");
  }

  // Waits for `n` permits: result<permits>.
  [[nodiscard]] primitive::operation<acquiring> acquire(std::size_t n = 1, call_site site = this_call_site()) noexcept {
    return primitive::operation<acquiring>(std::in_place, site, *this, n);
  }

  // Never suspends. The result is empty (false) if fewer permits are free, or if there is a waiter.
  [[nodiscard]] permits try_acquire(std::size_t n = 1) noexcept {
    return this->try_take(n) ? permits(*this, n) : permits();
  }

  // Any thread. Adds permits. More than `max` in total is fatal.
  void release(std::size_t n = 1) noexcept { this->give(n); }

  // The number of free permits. It may be outdated at once.
  std::size_t available() const noexcept { return this->free(); }

 private:
  const char* what() const noexcept override { return "a semaphore"; }
  primitive::wait_source::tally counted() const noexcept override { return {"with", this->last_free(), "permit"}; }
};

// Acquired permits. Move-only; releases them when it is destroyed.
template <class Strength>
class [[nodiscard]] basic_semaphore<Strength>::permits {
 public:
  permits() noexcept = default;
  permits(permits&& other) noexcept : semaphore_(std::exchange(other.semaphore_, nullptr)), count_(other.count_) {}
  permits& operator=(permits&& other) noexcept {
    permits old(std::move(other));
    std::swap(semaphore_, old.semaphore_);
    std::swap(count_, old.count_);
    return *this;
  }
  ~permits() { release(); }

  explicit operator bool() const noexcept { return semaphore_ != nullptr; }
  std::size_t count() const noexcept { return semaphore_ ? count_ : 0; }

  // Any thread. Releases the permits before this object ends. It is then empty.
  void release() noexcept {
    if (auto* semaphore = std::exchange(semaphore_, nullptr)) semaphore->release(count_);
  }
  // Does not release the permits; returns their number. The caller releases them by hand, or they are lost.
  std::size_t forget() noexcept { return std::exchange(semaphore_, nullptr) ? count_ : 0; }

 private:
  friend class basic_semaphore;
  permits(basic_semaphore& semaphore, std::size_t n) noexcept : semaphore_(&semaphore), count_(n) {}
  basic_semaphore* semaphore_ = nullptr;
  std::size_t count_ = 0;
};

template <class Strength>
class basic_semaphore<Strength>::acquiring {
 public:
  using value_type = permits;
  acquiring(basic_semaphore& source, std::size_t n) noexcept : semaphore_(&source), request_{n} {}
  bool try_now() noexcept { return semaphore_->try_take(request_.permits); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return semaphore_->begin(wait, entry, request_);
  }
  primitive::wait_source& source() const noexcept { return *semaphore_; }
  result<permits> take() noexcept { return permits(*semaphore_, request_.permits); }

 private:
  basic_semaphore* semaphore_;
  typename base::request request_;
};

extern template class basic_semaphore<strength::shared>;
extern template class basic_semaphore<strength::unsync>;

using semaphore = basic_semaphore<strength::shared>;
namespace unsync {
using semaphore = basic_semaphore<strength::unsync>;
}

}}  // namespace hocket
