// A broadcast channel: every receiver gets every item, if it keeps up. A send never waits.
//
//   broadcast<price> prices(64);              // the last 64 items are kept
//   prices.send({"ABC", 17});                 // any thread; false: the broadcast is closed
//
//   auto mine = prices.subscribe();           // gets the items that are sent from now on
//   auto next = co_await mine.receive();      // result<price>: waits for an item; in a fiber and a thread await(...)
//   if (!next && lagged_by(next.error()))     // so many items were lost; the next receive() gives the oldest item left
//
// Guarantees.
//   - All receivers get the items in the order of the sends.
//   - A receiver receives each item that is sent during its life, or an error counts the item. If items were
//     overwritten before the receiver got to them, an error takes their place. lagged_by() gives their number. The
//     error equals std::errc::no_buffer_space.
//   - Everything before a send is visible to the receivers of the item.
//   - A receive that was cancelled, timed out or killed has taken nothing.
//   - send() runs no foreign code but T's. It moves items under the inner mutex, and destroys the overwritten item
//     outside of it. A receive copies items under the inner mutex.
//
// Batches. send_batch() sends its items in one step: no other item gets between them. If it sends more items than the
// broadcast has places, all receivers lose the first of them at once. receive_batch() waits for one item, and then
// copies all available items, some per critical section. The result<std::size_t> is the number of items. It fails like
// receive(), and only if that number would be 0: the receiver gets the error for lost items before the items behind
// them.
//
// Receivers. A broadcast may have any number of senders and receivers, which may begin and end at any time. A receiver
// is a position, known to the receiver alone. One coroutine at a time uses a receiver. A copy is another receiver at
// the same position. A destroyed receiver receives no more, even if items are left for it. An item stays until it is
// overwritten or the broadcast is destroyed, even if no receiver needs it. For large items use few places, or send
// std::shared_ptr<const T>.
//
// Closing. After close(), send() does nothing and returns false. Receivers get all items that are left. Then they fail
// with errc::closed, which equals std::errc::broken_pipe. close(error) gives them that error instead. The first close
// counts.
//
// Cost. One short critical section per operation. A send grants the waiters in the order in which they began to wait.
// The constructor allocates the places; nothing else allocates.
//
// Thread safety. Any thread. unsync::broadcast is for the coroutines of one thread.
//
// Cancellation. Every wait can be cancelled, timed and selected.
//
// Requirements on T. T is copyable, and a copy may throw. Then receive() throws this exception, and the item stays
// available to the receiver, with all items copied in the same critical section. A receive_batch() that has items
// already returns them instead. Moves are noexcept.
//
// Lifetime. A broadcast must outlive its receivers' calls. Destroying a broadcast that has a waiting receiver is fatal
// at check level `debug`.
//
// Implementation: sync/detail/publication.hpp. Item n is in place n modulo the number of places.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/item_ring.hpp>
#include <hocket/sync/detail/own_pointer.hpp>
#include <hocket/sync/detail/publication.hpp>
#include <hocket/sync/detail/taken_items.hpp>
#include <span>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// The number of lost items that `error`, from a receive of a broadcast, reports: at most the largest int. 0 for any
// other error.
std::size_t lagged_by(std::error_code error) noexcept;

namespace detail {
std::error_code lag_error(std::uint64_t lost) noexcept;
}  // namespace detail

template <class Strength, class T>
class basic_broadcast final : private detail::publication<Strength> {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                "broadcast<T>: T is an object type: send a reference as a pointer, an array as a std::array");
  static_assert(std::is_copy_constructible_v<T>, "broadcast<T>: each receiver has a copy: send a std::shared_ptr");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                    std::is_nothrow_destructible_v<T>,
                "broadcast<T>: T must be movable without exceptions: send a std::shared_ptr");

  using base = detail::publication<Strength>;

 public:
  using value_type = T;
  class receiver;

  // `places`: the number of items kept for late receivers. 0, or more than memory can hold, is fatal. Throws bad_alloc.
  explicit basic_broadcast(std::size_t places) : base(0), ring_(places) {}
  ~basic_broadcast() {
    const std::uint64_t sent = this->last_published();
    for (std::size_t n = sent < ring_.places() ? static_cast<std::size_t>(sent) : ring_.places(); n != 0; --n)
      ring_.at(n - 1)->~T();
  }

  // Never waits. False: the broadcast is closed.
  bool send(T item) noexcept {
    return this->publish([&](std::uint64_t before) noexcept { put(before, before, item); });
  }
  // Never waits. Sends the items in their order, and moves from them. False: the broadcast is closed, and the items are
  // untouched.
  bool send_batch(std::span<T> items) noexcept {
    if (items.empty()) return !is_closed();
    const bool sent = this->publish(
        [&](std::uint64_t before) noexcept {
          const std::size_t lost = items.size() > ring_.places() ? items.size() - ring_.places() : 0;
          for (std::size_t i = lost; i < items.size(); ++i) put(before + i, before, items[i]);
        },
        items.size());
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (T& overwritten : sent ? items : std::span<T>()) {
        [[maybe_unused]] const T ended(std::move(overwritten));
      }
    }
    return sent;
  }

  // A receiver of the items that are sent from now on.
  receiver subscribe() noexcept { return receiver(*this); }

  // False: the broadcast was closed before; nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code error) noexcept { return base::close(error); }

  using base::is_closed;  // a hint
  std::size_t capacity() const noexcept { return ring_.places(); }

 private:
  const char* what() const noexcept override { return "a broadcast"; }
  // Under the mutex: stores item number `n`. `before` items were sent before this send. Leaves the overwritten item in
  // `item`.
  void put(std::uint64_t n, std::uint64_t before, T& item) noexcept {
    T* const place = place_of(n);
    if (n % ring_.places() < before) std::swap(*place, item);
    else ::new (static_cast<void*>(place)) T(std::move(item));
  }
  T* place_of(std::uint64_t n) const noexcept { return ring_.at(static_cast<std::size_t>(n % ring_.places())); }

  detail::item_ring<T> ring_;  // guarded by mutex_
};

// A receiver of a broadcast. One coroutine at a time uses it. It must not move while the coroutine waits.
template <class Strength, class T>
class basic_broadcast<Strength, T>::receiver {
  class receiving;
  class receiving_batch;

 public:
  explicit receiver(basic_broadcast& source) noexcept : broadcast_(&source) {
    primitive::locked guard(source.mutex_);
    next_ = source.published();
  }

  // Waits for an item.
  [[nodiscard]] primitive::operation<receiving> receive(call_site site = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, site, *this);
  }
  // Waits for an item, and copies as many as are available, at most the size of `buffer`. Assigns to its elements. With
  // an empty buffer, gives 0 at once.
  [[nodiscard]] primitive::operation<receiving_batch> receive_batch(std::span<T> buffer,
                                                                    call_site site = this_call_site()) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "hocket: receive_batch() assigns to the objects of the span, without exceptions: use receive()");
    return primitive::operation<receiving_batch>(std::in_place, site, *this, buffer);
  }
  // Never suspends. std::errc::resource_unavailable_try_again: no item is available.
  result<T> try_receive() {
    if (!broadcast_->has_news(next_)) return failure(std::errc::resource_unavailable_try_again);
    return take();
  }

  // The number of lost items that errors have reported to this receiver.
  std::uint64_t lost() const noexcept { return lost_; }
  // The number of items available to this receiver, without the lost ones. A hint, outdated at once.
  std::size_t size() const noexcept {
    primitive::locked guard(broadcast_->mutex_);
    const std::uint64_t behind = broadcast_->published() - next_;
    return behind < broadcast_->capacity() ? static_cast<std::size_t>(behind) : broadcast_->capacity();
  }

 private:
  result<T> take() {
    primitive::locked guard(broadcast_->mutex_);
    if (const std::error_code error = next_error()) return failure(error);
    result<T> item(std::in_place, std::as_const(*broadcast_->place_of(next_)));
    ++next_;
    return item;
  }
  result<std::size_t> take_some(T* buffer, std::size_t max_items) {
    std::size_t taken = 0;
    for (bool more = true; more;) {
      detail::taken_items<T> part;
      try {
        if (const std::error_code error = take_part(part, max_items - taken, taken == 0)) return failure(error);
      } catch (...) {
        if (taken == 0) throw;
        break;  // the next receive copies the item again
      }
      part.assign_to(buffer + taken);
      taken += part.size();
      more = part.is_full() && taken < max_items;
    }
    return taken;
  }
  // Takes no item if a copy throws. A part after the first takes none either if items were lost: the next receive
  // reports them.
  std::error_code take_part(detail::taken_items<T>& part, std::size_t max_items, bool first) {
    primitive::locked guard(broadcast_->mutex_);
    if (!first && lost_before(broadcast_->published()) != 0) return {};
    if (const std::error_code error = first ? next_error() : std::error_code()) return error;
    if (part.capacity < max_items) max_items = part.capacity;
    const std::uint64_t ready = broadcast_->published() - next_;
    const std::size_t n = ready < max_items ? static_cast<std::size_t>(ready) : max_items;
    for (std::size_t i = 0; i < n; ++i) part.add(std::as_const(*broadcast_->place_of(next_ + i)));
    next_ += n;
    return {};
  }
  // Under the mutex, after has_news(): success if the next item is available, else the error to report. Counts lost
  // items and skips them.
  std::error_code next_error() noexcept {
    const std::uint64_t sent = broadcast_->published();
    if (const std::uint64_t lost = lost_before(sent)) {
      next_ += lost;
      lost_ += lost;
      return detail::lag_error(lost);
    }
    if (next_ != sent) return {};
    detail::expects(broadcast_->is_closed(), "two coroutines received by one receiver of a broadcast",
                    "give each a copy of it");
    return broadcast_->close_error();
  }
  std::uint64_t lost_before(std::uint64_t sent) const noexcept {
    const std::uint64_t behind = sent - next_;
    return behind > broadcast_->capacity() ? behind - broadcast_->capacity() : 0;
  }

  basic_broadcast* broadcast_;
  std::uint64_t next_ = 0;  // the number of the next item
  std::uint64_t lost_ = 0;
};

template <class Strength, class T>
class basic_broadcast<Strength, T>::receiver::receiving {
 public:
  using value_type = T;
  static constexpr bool keeps_result = true;
  explicit receiving(receiver& rx) noexcept : receiver_(&rx) {}
  bool try_now() noexcept { return rx().broadcast_->has_news(rx().next_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return rx().broadcast_->begin(wait, entry, rx().next_);
  }
  primitive::wait_source& source() noexcept { return *rx().broadcast_; }
  result<T> take() { return rx().take(); }

 private:
  receiver& rx() const noexcept { return *receiver_.get(); }
  detail::own_pointer<receiver> receiver_;
};

template <class Strength, class T>
class basic_broadcast<Strength, T>::receiver::receiving_batch {
 public:
  using value_type = std::size_t;
  static constexpr bool keeps_result = true;
  receiving_batch(receiver& rx, std::span<T> buffer) noexcept
      : receiver_(&rx), buffer_(buffer.data()), count_(buffer.size()) {}
  bool try_now() noexcept { return count_ == 0 || rx().broadcast_->has_news(rx().next_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return rx().broadcast_->begin(wait, entry, rx().next_);
  }
  primitive::wait_source& source() noexcept { return *rx().broadcast_; }
  result<std::size_t> take() {
    if (count_ == 0) return count_;
    return rx().take_some(buffer_.get(), count_);
  }

 private:
  receiver& rx() const noexcept { return *receiver_.get(); }
  detail::own_pointer<receiver> receiver_;
  detail::own_pointer<T> buffer_;
  std::size_t count_;
};

template <class T>
using broadcast = basic_broadcast<strength::shared, T>;
namespace unsync {
template <class T>
using broadcast = basic_broadcast<strength::unsync, T>;
}

}}  // namespace hocket
