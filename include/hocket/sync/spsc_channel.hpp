// A channel between one sender and one receiver: what channel<T> is, bounded, and without a lock on its usual way.
//
//   spsc_channel<int> c(256);          // 256 places
//   auto sent = co_await c.send(7);    // result<void>: waits for a place; a fiber and a thread say await(...)
//   auto item = co_await c.receive();  // result<int>: waits for an item
//   c.close();                         // the end: what is in the channel is still received
//
// One coroutine sends at a time, and one receives; each may be of any kind, and hand its part over to another one, if
// it orders that by other means and does not wait meanwhile. A second one at the same time is a programming error:
// fatal if both wait, fatal at check level `debug` if they are found out otherwise. For more of them there is
// channel<T>.
//
// Guarantees. Items come out in the order in which they went in, and are never lost or doubled: an item is with the
// sender, in the channel or with the receiver. A send that was cancelled, timed out, killed or found the channel closed
// has its item where it was. A receive that was ended so has taken none. What was done before a send is visible to
// whoever receives the item. Neither side runs foreign code under a lock.
//
// The end. Any thread may close. After close() sends fail, also one that waits, with errc::closed, which equals
// std::errc::broken_pipe. The receiver goes on until the channel is empty; then it fails with the same. close(why)
// gives both that error instead. Of several closes the first one counts. An item that is sent beside a close is
// received before the end, or the send fails.
//
// Batches. send_batch() and receive_batch() wait for one place or item, and then do as many as go without waiting, as
// one step: result<std::size_t> says how many. They fail only if it would be none. A batch costs the other end one
// look.
//
// While neither end waits, an operation takes no lock and no atomic read-modify-write: two loads of what the other end
// seldom writes, a sequentially consistent store, and the move of the item. A wait takes the inner mutex. Any thread;
// unsync::spsc_channel is for the coroutines of one thread. Every wait can be cancelled, timed and selected at both
// ends; but a select does not name the same end twice.
//
// The item. T is nothrow-move-constructible. A send refers to the caller's object until it is awaited and is over; a
// small trivially copyable one is copied at once, any other copy is made when the item goes into the channel. The ring
// is allocated by the constructor; nothing else allocates.
//
// The end of its life. It outlives every call of both ends and of close(), also those that others have already seen the
// effect of. There must be no waits when it is destroyed (fatal at check level `debug`). What is in it is destroyed.
//
// How: detail/spsc_core.hpp.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/item_ring.hpp>
#include <hocket/sync/detail/own_pointer.hpp>
#include <hocket/sync/detail/spsc_core.hpp>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength, class T>
class basic_spsc_channel final : private detail::spsc_core<Strength> {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                "spsc_channel<T>: T is an object type: send a reference as a pointer, an array as a std::array");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "spsc_channel<T>: T must be movable without exceptions: send it by std::unique_ptr");

  using base = detail::spsc_core<Strength>;
  using alone = typename detail::lone_user<Strength>::visit;
  template <class U>
  class sending;
  class receiving;
  class sending_batch;
  class receiving_batch;

 public:
  using value_type = T;

  // One place at least; none, or more than memory can have, is fatal. Throws bad_alloc.
  explicit basic_spsc_channel(std::size_t places) : base(places), ring_(places) {}
  ~basic_spsc_channel() {
    for (std::size_t n = this->left(); n != 0; --n) drop_first();
  }

  // Waits for a place. `item` must stay until the wait is over.
  [[nodiscard]] primitive::operation<sending<T&&>> send(T&& item, call_site at = this_call_site()) noexcept {
    return primitive::operation<sending<T&&>>(std::in_place, at, *this, std::move(item));
  }
  [[nodiscard]] primitive::operation<sending<const T&>> send(const T& item, call_site at = this_call_site()) noexcept {
    static_assert(
        std::is_nothrow_copy_constructible_v<T>,
        "hocket: an item that cannot be copied without exceptions: say send(std::move(item)), or send(T(item))");
    return primitive::operation<sending<const T&>>(std::in_place, at, *this, item);
  }

  // Waits for an item.
  [[nodiscard]] primitive::operation<receiving> receive(call_site at = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, at, *this);
  }

  // Never suspend. std::errc::resource_unavailable_try_again: it is full, or empty. An item that was not sent is
  // untouched.
  result<void> try_send(T&& item) noexcept { return try_send_as<T>(std::move(item)); }
  result<void> try_send(const T& item) noexcept {
    static_assert(std::is_nothrow_copy_constructible_v<T>,
                  "hocket: an item that cannot be copied without exceptions: say try_send(std::move(item)), or "
                  "try_send(T(item))");
    return try_send_as<const T&>(item);
  }
  result<T> try_receive() noexcept {
    if (!this->can_receive()) return failure(std::errc::resource_unavailable_try_again);
    return pull();
  }

  // Waits for a place, and sends as many items as there are places. Moves from those.
  [[nodiscard]] primitive::operation<sending_batch> send_batch(std::span<T> items,
                                                               call_site at = this_call_site()) noexcept {
    return primitive::operation<sending_batch>(std::in_place, at, *this, items);
  }
  // Waits for an item, and takes as many as there are, and as there is room for in `room`. Assigns to that.
  [[nodiscard]] primitive::operation<receiving_batch> receive_batch(std::span<T> room,
                                                                    call_site at = this_call_site()) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "hocket: receive_batch() assigns to the objects of the span, without exceptions: use receive()");
    return primitive::operation<receiving_batch>(std::in_place, at, *this, room);
  }

  // False: it was closed before, and nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code why) noexcept { return base::close(why); }

  // Hints, outdated at once if others use the channel.
  using base::is_closed;
  using base::size;
  std::size_t capacity() const noexcept { return ring_.places(); }

 private:
  template <class U>
  result<void> try_send_as(U&& item) noexcept {
    if (!this->can_send()) return failure(std::errc::resource_unavailable_try_again);
    return push(std::forward<U>(item));
  }

  // As many of them as there are places for, which is one at least.
  template <class Get>
  result<std::size_t> push_some(std::size_t n, Get get) noexcept {
    const alone here(this->sending_, base::two_senders);
    if (this->is_closed()) return failure(this->why());
    const std::size_t room = this->room(n);
    detail::expects(room != 0, base::two_senders, "a spsc_channel has one of each at a time: say channel<T>");
    if (n > room) n = room;
    const std::size_t first = this->place_in();
    std::size_t place = first;
    for (std::size_t i = 0; i != n; ++i, place = ring_.after(place))
      ::new (static_cast<void*>(ring_.at(place))) T(get(i));
    if (!this->publish(n)) [[unlikely]] {
      place = first;
      for (std::size_t i = 0; i != n; ++i, place = ring_.after(place)) give_back(*ring_.at(place), get(i));
      return failure(this->why());
    }
    this->place_in() = place;
    return n;
  }
  template <class U>
  result<void> push(U&& item) noexcept {
    const auto sent = push_some(1, [&](std::size_t) -> U&& { return std::forward<U>(item); });
    if (!sent) [[unlikely]]
      return failure(sent.error());
    return {};
  }
  static void give_back(T& from, T&& to) noexcept {
    if constexpr (std::is_nothrow_move_assignable_v<T>) {
      to = std::move(from);
    } else {
      to.~T();
      ::new (static_cast<void*>(&to)) T(std::move(from));
    }
    from.~T();
  }
  static void give_back(T& from, const T&) noexcept { from.~T(); }

  T& first() noexcept { return *ring_.at(this->place_out()); }
  void drop_first() noexcept {
    first().~T();
    this->place_out() = ring_.after(this->place_out());
  }
  std::size_t expect_items(std::size_t wanted) noexcept {
    const std::size_t n = this->items_or_end(wanted);
    detail::expects(n != 0 || this->is_closed(), base::two_receivers,
                    "a spsc_channel has one of each at a time: say channel<T>");
    return n;
  }
  result<T> pull() noexcept {
    const alone here(this->receiving_, base::two_receivers);
    if (expect_items(1) == 0) return failure(this->why());
    result<T> got(std::in_place, std::move(first()));
    drop_first();
    this->freed(1);
    return got;
  }
  result<std::size_t> pull_some(T* room, std::size_t n) noexcept {
    const alone here(this->receiving_, base::two_receivers);
    const std::size_t there = expect_items(n);
    if (there == 0) return failure(this->why());
    if (n > there) n = there;
    for (std::size_t i = 0; i != n; ++i) {
      room[i] = std::move(first());
      drop_first();
    }
    this->freed(n);
    return n;
  }

  detail::item_ring<T> ring_;
};

// U is T&& or const T&.
template <class Strength, class T>
template <class U>
class basic_spsc_channel<Strength, T>::sending {
  using object = std::remove_reference_t<U>;
  using item = std::conditional_t<detail::is_small_item<T>, detail::item_room<T>, detail::own_pointer<object>>;

 public:
  using value_type = void;
  sending(basic_spsc_channel& to, U&& what) noexcept : to_(&to), item_(kept(what)) {}
  bool try_now() noexcept { return to_->can_send(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { return to_->begin_send(wait, entry); }
  primitive::wait_source& source() const noexcept { return *to_; }
  result<void> take() noexcept {
    if constexpr (detail::is_small_item<T>) return to_->push(std::move(item_.item()));
    else return to_->push(static_cast<U>(*item_.get()));
  }
  const void* refers_to() const noexcept
    requires(!detail::is_small_item<T>)
  {
    return item_.get();
  }

 private:
  static item kept(object& what) noexcept {
    if constexpr (detail::is_small_item<T>) {
      item copy;
      copy.put(what);
      return copy;
    } else {
      return item(&what);
    }
  }
  basic_spsc_channel* to_;
  item item_;
};

template <class Strength, class T>
class basic_spsc_channel<Strength, T>::receiving {
 public:
  using value_type = T;
  static constexpr bool keeps_result = true;
  explicit receiving(basic_spsc_channel& from) noexcept : from_(&from) {}
  bool try_now() noexcept { return from_->can_receive(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return from_->begin_receive(wait, entry);
  }
  primitive::wait_source& source() const noexcept { return *from_; }
  result<T> take() noexcept { return from_->pull(); }

 private:
  basic_spsc_channel* from_;
};

template <class Strength, class T>
class basic_spsc_channel<Strength, T>::sending_batch {
 public:
  using value_type = std::size_t;
  sending_batch(basic_spsc_channel& to, std::span<T> items) noexcept
      : to_(&to), items_(items.data()), count_(items.size()) {}
  bool try_now() noexcept { return count_ == 0 || to_->can_send(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { return to_->begin_send(wait, entry); }
  primitive::wait_source& source() const noexcept { return *to_; }
  result<std::size_t> take() noexcept {
    if (count_ == 0) return count_;
    return to_->push_some(count_, [this](std::size_t i) -> T&& { return std::move(items_.get()[i]); });
  }
  const void* refers_to() const noexcept { return count_ == 0 ? nullptr : items_.get(); }

 private:
  basic_spsc_channel* to_;
  detail::own_pointer<T> items_;
  std::size_t count_;
};

template <class Strength, class T>
class basic_spsc_channel<Strength, T>::receiving_batch {
 public:
  using value_type = std::size_t;
  static constexpr bool keeps_result = true;
  receiving_batch(basic_spsc_channel& from, std::span<T> room) noexcept
      : from_(&from), room_(room.data()), count_(room.size()) {}
  bool try_now() noexcept { return count_ == 0 || from_->can_receive(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return from_->begin_receive(wait, entry);
  }
  primitive::wait_source& source() const noexcept { return *from_; }
  result<std::size_t> take() noexcept {
    if (count_ == 0) return count_;
    return from_->pull_some(room_.get(), count_);
  }

 private:
  basic_spsc_channel* from_;
  detail::own_pointer<T> room_;
  std::size_t count_;
};

template <class T>
using spsc_channel = basic_spsc_channel<strength::shared, T>;
namespace unsync {
template <class T>
using spsc_channel = basic_spsc_channel<strength::unsync, T>;
}

}}  // namespace hocket
