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
// Numbers. acquire(0) waits for its turn only: it is granted as soon as nobody is in front of it, and gives `permits`
// that count 0 and are true; so does try_acquire(0), unless somebody waits. release(0) does nothing. Who asks for more
// than there will ever be waits until that is ended by others, and holds up those behind. More than `max` permits
// cannot be counted: it is fatal to make a semaphore with more, to ask for more, and to release beyond that.
//
// A semaphore must outlive its permits and every release(); only one that releases a single permit is done with the
// semaphore as soon as somebody has got that. Destroying one while somebody waits is fatal at check level `debug`.
//
// How: sync/detail/permit_line.hpp.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/permit_line.hpp>
#include <cstddef>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_semaphore final : private detail::permit_line<Strength> {
  using base = detail::permit_line<Strength>;
  class acquiring;

 public:
  class permits;

  static constexpr std::size_t max = base::most;

  // With so many permits that are free.
  explicit basic_semaphore(std::size_t free) noexcept : base(free) {}
  ~basic_semaphore() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "a semaphore was destroyed while somebody waits for permits",
                      "let it outlive the waits: release permits, or cancel those who wait, first");
  }

  // Waits for `n` permits: result<permits>.
  [[nodiscard]] primitive::operation<acquiring> acquire(std::size_t n = 1, call_site at = this_call_site()) noexcept {
    return primitive::operation<acquiring>(std::in_place, at, *this, n);
  }

  // Never suspends. Empty (false) if there are fewer, or somebody waits.
  [[nodiscard]] permits try_acquire(std::size_t n = 1) noexcept {
    return this->try_take(n) ? permits(*this, n) : permits();
  }

  // Adds permits. More than `max` in all is fatal.
  void release(std::size_t n = 1) noexcept { this->give(n); }

  // How many are free now: outdated at once if others use the semaphore.
  std::size_t available() const noexcept { return this->free(); }

 private:
  const char* what() const noexcept override { return "a semaphore"; }
  primitive::wait_source::tally counted() const noexcept override { return {"with", this->last_free(), "permit"}; }
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
  acquiring(basic_semaphore& from, std::size_t n) noexcept : from_(&from), request_{n} {}
  bool try_now() noexcept { return from_->try_take(request_.wanted); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return from_->begin(wait, entry, request_);
  }
  primitive::wait_source& source() const noexcept { return *from_; }
  result<permits> take() noexcept { return permits(*from_, request_.wanted); }

 private:
  basic_semaphore* from_;
  typename base::request request_;
};

extern template class basic_semaphore<strength::shared>;
extern template class basic_semaphore<strength::unsync>;

using semaphore = basic_semaphore<strength::shared>;
namespace unsync {
using semaphore = basic_semaphore<strength::unsync>;
}

}}  // namespace hocket
