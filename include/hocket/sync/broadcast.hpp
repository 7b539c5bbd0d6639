// A broadcast: every receiver gets every item, if it keeps up; the sender never waits.
//
//   broadcast<price> prices(64);              // the last 64 items are kept
//   prices.send({"ABC", 17});                 // any thread; false: it is closed
//
//   auto mine = prices.subscribe();       // gets what is sent from now on
//   auto next = co_await mine.receive();      // result<price>: waits for an item; in a fiber and a thread await(...)
//   if (!next && lagged_by(next.error()))     // so many items were lost; the next receive() gives the oldest one left
//
// Guarantees. A receiver gets the items in the order in which they were sent, the same for all receivers. Each item
// that was sent while the receiver was there is received, or is counted in one of the errors in between: an error of
// which lagged_by() is not 0 takes the place of the items that were overwritten before it came by them. It equals
// std::errc::no_buffer_space. What was done before a send is visible to who receives the item. A receive that was
// cancelled, timed out or killed has taken nothing. send() runs no foreign code, but that items are moved under the
// inner mutex, and copied for receivers; the one that is overwritten is destroyed by the sender, outside of it.
//
// Batches. send_batch() sends items in one step: no item of others comes between them. Those that find no place, since
// there are more of them than places, are lost to every receiver at once. receive_batch() waits until one item is
// there, and gives copies of as many as there are, some in each critical section: result<std::size_t> says how many. It
// fails as receive() does, and only if it would be none: what a receiver has lost is told before it gets the items
// behind that.
//
// Any number of senders, and of receivers, which come and go as they like: a receiver is a position, known to itself
// only. It is used by one coroutine at a time; a copy is one more receiver, at the same position. It is not there any
// more when it is destroyed, also if items are left for it. What nobody has to receive stays, until it is overwritten
// or the broadcast is destroyed: keep few places for items that hold much, or send std::shared_ptr<const T>.
//
// The end. After close() send() is without effect, and says so. Receivers go on until they have come by all items; then
// they fail with errc::closed, which equals std::errc::broken_pipe. close(why) gives them that error instead. Of
// several closes the first one counts. It outlives its receivers' calls, and no receiver waits when it is destroyed
// (fatal at check level `debug`).
//
// All is one short critical section per operation, and a send grants those who wait, in the order in which they came to
// wait. Any thread; unsync::broadcast is for the coroutines of one thread. Every wait can be cancelled, timed and
// selected. The constructor allocates the places, nothing else allocates.
//
// T is copyable, perhaps with exceptions: one that is thrown by the copy for a receiver leaves its receive(), and the
// item is still there for it, with all that were copied in the same critical section. A receive_batch() that has got
// some before gives those instead. Moves are noexcept.
//
// How: detail/publication.hpp. Item n stands in place n modulo the number of places.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/item_ring.hpp>
#include <hocket/sync/detail/own_pointer.hpp>
#include <hocket/sync/detail/publication.hpp>
#include <hocket/sync/detail/taken_items.hpp>
#include <span>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// How many items `error`, of a receive() of a broadcast, says were lost, up to the largest int; 0 if it says something
// else.
std::size_t lagged_by(std::error_code error) noexcept;

namespace detail {
std::error_code lag_of(std::uint64_t lost) noexcept;
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

  // So many items are kept for receivers that are late: one at least; none, or more than memory can have, is fatal.
  // Throws bad_alloc.
  explicit basic_broadcast(std::size_t places) : base(0), ring_(places) {}
  ~basic_broadcast() {
    const std::uint64_t sent = this->last_published();
    for (std::size_t n = sent < ring_.places() ? static_cast<std::size_t>(sent) : ring_.places(); n != 0; --n)
      ring_.at(n - 1)->~T();
  }

  // Never waits. False: it is closed.
  bool send(T item) noexcept {
    return this->publish([&](std::uint64_t before) noexcept { put(before, before, item); });
  }
  // Never waits. Sends them in their order, and moves from them. False: it is closed, and they are untouched.
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
        [[maybe_unused]] const T ends_here(std::move(overwritten));
      }
    }
    return sent;
  }

  // One that gets what is sent from now on.
  receiver subscribe() noexcept { return receiver(*this); }

  // False: it was closed before, and nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code why) noexcept { return base::close(why); }

  using base::is_closed;  // a hint
  std::size_t capacity() const noexcept { return ring_.places(); }

 private:
  const char* what() const noexcept override { return "a broadcast"; }
  // Under the mutex: item number `n`; there were `before` when the sender came. `item` is then what it overwrites.
  void put(std::uint64_t n, std::uint64_t before, T& item) noexcept {
    T* const place = place_of(n);
    if (n % ring_.places() < before) std::swap(*place, item);
    else ::new (static_cast<void*>(place)) T(std::move(item));
  }
  T* place_of(std::uint64_t item) const noexcept { return ring_.at(static_cast<std::size_t>(item % ring_.places())); }

  detail::item_ring<T> ring_;  // guarded by mutex_
};

// A position in a broadcast. Used by one coroutine at a time, and stays where it is while that waits.
template <class Strength, class T>
class basic_broadcast<Strength, T>::receiver {
  class receiving;
  class receiving_batch;

 public:
  explicit receiver(basic_broadcast& from) noexcept : from_(&from) {
    primitive::locked guard(from.mutex_);
    next_ = from.published();
  }

  // Waits for an item.
  [[nodiscard]] primitive::operation<receiving> receive(call_site at = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, at, *this);
  }
  // Waits for an item, and copies as many as there are, and as there is room for in `room`. Assigns to that. Without
  // room it gives 0 at once.
  [[nodiscard]] primitive::operation<receiving_batch> receive_batch(std::span<T> room,
                                                                    call_site at = this_call_site()) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "hocket: receive_batch() assigns to the objects of the span, without exceptions: use receive()");
    return primitive::operation<receiving_batch>(std::in_place, at, *this, room);
  }
  // Never suspends. std::errc::resource_unavailable_try_again: there is none.
  result<T> try_receive() {
    if (!from_->has_news(next_)) return failure(std::errc::resource_unavailable_try_again);
    return take();
  }

  // How many items were lost to it, as far as it was told.
  std::uint64_t lost() const noexcept { return lost_; }
  // How many items are there for it now, those not counted that are lost already. A hint, outdated at once.
  std::size_t size() const noexcept {
    primitive::locked guard(from_->mutex_);
    const std::uint64_t behind = from_->published() - next_;
    return behind < from_->capacity() ? static_cast<std::size_t>(behind) : from_->capacity();
  }

 private:
  result<T> take() {
    primitive::locked guard(from_->mutex_);
    if (const std::error_code error = why_none()) return failure(error);
    result<T> got(std::in_place, std::as_const(*from_->place_of(next_)));
    ++next_;
    return got;
  }
  result<std::size_t> take_some(T* room, std::size_t most) {
    std::size_t got = 0;
    for (bool more = true; more;) {
      detail::taken_items<T> part;
      try {
        if (const std::error_code error = take_part(part, most - got, got == 0)) return failure(error);
      } catch (...) {
        if (got == 0) throw;
        break;  // it is met again by the next receive
      }
      part.assign_to(room + got);
      got += part.size();
      more = part.is_full() && got < most;
    }
    return got;
  }
  // None at all if the copy of one throws, or, unless it is the first part, if there is something else to be told.
  std::error_code take_part(detail::taken_items<T>& part, std::size_t most, bool first) {
    primitive::locked guard(from_->mutex_);
    if (!first && lost_before(from_->published()) != 0) return {};
    if (const std::error_code error = first ? why_none() : std::error_code()) return error;
    if (part.most < most) most = part.most;
    const std::uint64_t ready = from_->published() - next_;
    const std::size_t n = ready < most ? static_cast<std::size_t>(ready) : most;
    for (std::size_t i = 0; i < n; ++i) part.add(std::as_const(*from_->place_of(next_ + i)));
    next_ += n;
    return {};
  }
  // Under the mutex, where there was news: why the next item is not to be had; success: it is there. Counts what was
  // lost, and goes on behind it.
  std::error_code why_none() noexcept {
    const std::uint64_t sent = from_->published();
    if (const std::uint64_t lost = lost_before(sent)) {
      next_ += lost;
      lost_ += lost;
      return detail::lag_of(lost);
    }
    if (next_ != sent) return {};
    detail::expects(from_->is_closed(), "two coroutines received by one receiver of a broadcast",
                    "give each a copy of it");
    return from_->why();
  }
  std::uint64_t lost_before(std::uint64_t sent) const noexcept {
    const std::uint64_t behind = sent - next_;
    return behind > from_->capacity() ? behind - from_->capacity() : 0;
  }

  basic_broadcast* from_;
  std::uint64_t next_ = 0;  // the number of the item that it receives next
  std::uint64_t lost_ = 0;
};

template <class Strength, class T>
class basic_broadcast<Strength, T>::receiver::receiving {
 public:
  using value_type = T;
  static constexpr bool keeps_result = true;
  explicit receiving(receiver& of) noexcept : receiver_(&of) {}
  bool try_now() noexcept { return of().from_->has_news(of().next_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return of().from_->begin(wait, entry, of().next_);
  }
  primitive::wait_source& source() noexcept { return *of().from_; }
  result<T> take() { return of().take(); }

 private:
  receiver& of() const noexcept { return *receiver_.get(); }
  detail::own_pointer<receiver> receiver_;
};

template <class Strength, class T>
class basic_broadcast<Strength, T>::receiver::receiving_batch {
 public:
  using value_type = std::size_t;
  static constexpr bool keeps_result = true;
  receiving_batch(receiver& of, std::span<T> room) noexcept : receiver_(&of), room_(room.data()), count_(room.size()) {}
  bool try_now() noexcept { return count_ == 0 || of().from_->has_news(of().next_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return of().from_->begin(wait, entry, of().next_);
  }
  primitive::wait_source& source() noexcept { return *of().from_; }
  result<std::size_t> take() {
    if (count_ == 0) return count_;
    return of().take_some(room_.get(), count_);
  }

 private:
  receiver& of() const noexcept { return *receiver_.get(); }
  detail::own_pointer<receiver> receiver_;
  detail::own_pointer<T> room_;
  std::size_t count_;
};

template <class T>
using broadcast = basic_broadcast<strength::shared, T>;
namespace unsync {
template <class T>
using broadcast = basic_broadcast<strength::unsync, T>;
}

}}  // namespace hocket
