// A bounded single-producer, single-consumer channel. Its fast path takes no lock.
//
//   spsc_channel<int> c(256);          // 256 places
//   auto sent = co_await c.send(7);    // result<void>: waits for a place; a fiber and a thread say await(...)
//   auto item = co_await c.receive();  // result<int>: waits for an item
//   c.close();                         // no more sends; the items in the channel are still received
//
// Ends. One coroutine sends at a time, and one receives. Each may be of any kind. It may hand its end to another
// coroutine, if other means order the handover and no wait at this end is under way.
//
// Do not. Send from two coroutines at the same time, or receive in two. It is fatal if both wait, and fatal at check
// level `debug` if a check detects it otherwise. For more senders or receivers use channel<T>.
//
// Guarantees.
//   - Items come out in the order in which they went in.
//   - No item is lost or duplicated: it is with the sender, in the channel or with the receiver.
//   - If a send is cancelled, timed out or killed, or finds the channel closed, the item is where it was. A receive
//     that ends so has taken no item.
//   - Everything before a send is visible to the receiver of the item.
//   - Neither end runs foreign code under a lock.
//
// Closing. Any thread may close the channel.
//   - After close(), sends fail with errc::closed, which equals std::errc::broken_pipe. So does a send that waits.
//   - The receiver continues until the channel is empty. Then receives fail with the same error.
//   - close(error) gives both ends that error instead. The first close counts.
//   - If a send and a close run at the same time, the item is received before the end, or the send fails.
//
// Batches. send_batch() and receive_batch() wait for one place or item, and then move all items that pass without
// waiting, as one step. The result<std::size_t> is the number of items. A batch fails only if that number would be 0.
// A batch costs the other end one load of the count.
//
// Cost. While neither end waits, an operation takes no lock and no atomic read-modify-write. It is two loads of words
// that the other end seldom writes, a sequentially consistent store, and the move of the item. A wait takes the inner
// mutex.
//
// Thread safety. Any thread. unsync::spsc_channel is for the coroutines of one thread.
//
// Cancellation. Every wait can be cancelled, timed and selected, at both ends. A select must not name the same end
// twice.
//
// Requirements on T. T is nothrow-move-constructible. A send refers to the caller's object until the awaited send has
// ended. A small trivially copyable item is copied at the call. Any other copy is made when the item goes into the
// channel.
//
// Memory. The constructor allocates the ring. Nothing else allocates.
//
// Lifetime. The channel must outlive every call of both ends and of close(), even a call whose effect is visible
// already. Destroying a channel that has a waiter is fatal at check level `debug`. The destructor destroys the items in
// the channel.
//
// Implementation: sync/detail/spsc_core.hpp.
#pragma once
#include <hocket/primitive.hpp>
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
  using visit = typename detail::lone_user<Strength>::visit;
  template <class U>
  class sending;
  class receiving;
  class sending_batch;
  class receiving_batch;

 public:
  using value_type = T;

  // Throws bad_alloc. No place, or more than memory can hold, is fatal.
  explicit basic_spsc_channel(std::size_t places) : base(places), ring_(places) {}
  ~basic_spsc_channel() {
    for (std::size_t n = this->last_size(); n != 0; --n) drop_first();
  }

  // Waits for a place. `item` must stay valid until the wait has ended.
  [[nodiscard]] primitive::operation<sending<T&&>> send(T&& item, call_site site = this_call_site()) noexcept {
    return primitive::operation<sending<T&&>>(std::in_place, site, *this, std::move(item));
  }
  [[nodiscard]] primitive::operation<sending<const T&>> send(const T& item,
                                                             call_site site = this_call_site()) noexcept {
    static_assert(
        std::is_nothrow_copy_constructible_v<T>,
        "hocket: an item that cannot be copied without exceptions: say send(std::move(item)), or send(T(item))");
    return primitive::operation<sending<const T&>>(std::in_place, site, *this, item);
  }

  // Waits for an item.
  [[nodiscard]] primitive::operation<receiving> receive(call_site site = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, site, *this);
  }

  // Never suspend. std::errc::resource_unavailable_try_again: the channel is full, or empty. An unsent item is
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

  // Waits for a place, and sends as many items as there are free places. Moves from the sent items.
  [[nodiscard]] primitive::operation<sending_batch> send_batch(std::span<T> items,
                                                               call_site site = this_call_site()) noexcept {
    return primitive::operation<sending_batch>(std::in_place, site, *this, items);
  }
  // Waits for an item, and takes as many as the channel has, at most the size of `buffer`. Assigns to its elements.
  [[nodiscard]] primitive::operation<receiving_batch> receive_batch(std::span<T> buffer,
                                                                    call_site site = this_call_site()) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "hocket: receive_batch() assigns to the objects of the span, without exceptions: use receive()");
    return primitive::operation<receiving_batch>(std::in_place, site, *this, buffer);
  }

  // False: the channel was closed before; nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code error) noexcept { return base::close(error); }

  // Hints, outdated at once if others use the channel.
  using base::is_closed;
  using base::size;
  std::size_t capacity() const noexcept { return ring_.places(); }

 private:
  template <class U>
  result<void> try_send_as(U&& item) noexcept {
    if (!this->can_send()) return failure(errc::full);
    return push(std::forward<U>(item));
  }

  // Sends as many items as there are free places, at least one.
  template <class Get>
  result<std::size_t> push_some(std::size_t n, Get get) noexcept {
    const visit guard(this->sending_, base::two_senders);
    if (this->is_closed()) return failure(this->close_error());
    const std::size_t free = this->free_places(n);
    detail::expects(free != 0, base::two_senders, "a spsc_channel has one of each at a time: say channel<T>");
    if (n > free) n = free;
    const std::size_t first = this->place_in();
    std::size_t place = first;
    for (std::size_t i = 0; i != n; ++i, place = ring_.after(place))
      ::new (static_cast<void*>(ring_.at(place))) T(get(i));
    if (!this->publish(n)) [[unlikely]] {
      place = first;
      for (std::size_t i = 0; i != n; ++i, place = ring_.after(place)) restore(*ring_.at(place), get(i));
      return failure(this->close_error());
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
  // Ends an item in the ring; an item that was moved goes back into the caller's object.
  static void restore(T& item, T&& original) noexcept {
    if constexpr (std::is_nothrow_move_assignable_v<T>) {
      original = std::move(item);
    } else {
      original.~T();
      ::new (static_cast<void*>(&original)) T(std::move(item));
    }
    item.~T();
  }
  static void restore(T& item, const T&) noexcept { item.~T(); }

  T& first() noexcept { return *ring_.at(this->place_out()); }
  void drop_first() noexcept {
    first().~T();
    this->place_out() = ring_.after(this->place_out());
  }
  std::size_t expect_items(std::size_t max_items) noexcept {
    const std::size_t n = this->items_or_end(max_items);
    detail::expects(n != 0 || this->is_closed(), base::two_receivers,
                    "a spsc_channel has one of each at a time: say channel<T>");
    return n;
  }
  result<T> pull() noexcept {
    const visit guard(this->receiving_, base::two_receivers);
    if (expect_items(1) == 0) return failure(this->close_error());
    result<T> item(std::in_place, std::move(first()));
    drop_first();
    this->freed(1);
    return item;
  }
  result<std::size_t> pull_some(T* buffer, std::size_t n) noexcept {
    const visit guard(this->receiving_, base::two_receivers);
    const std::size_t available = expect_items(n);
    if (available == 0) return failure(this->close_error());
    if (n > available) n = available;
    for (std::size_t i = 0; i != n; ++i) {
      buffer[i] = std::move(first());
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
  using storage = std::conditional_t<detail::is_small_item<T>, detail::item_storage<T>, detail::own_pointer<object>>;

 public:
  using value_type = void;
  sending(basic_spsc_channel& channel, U&& item) noexcept : channel_(&channel), item_(stored(item)) {}
  bool try_now() noexcept { return channel_->can_send(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return channel_->begin_send(wait, entry);
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<void> take() noexcept {
    if constexpr (detail::is_small_item<T>) return channel_->push(std::move(item_.item()));
    else return channel_->push(static_cast<U>(*item_.get()));
  }
  const void* refers_to() const noexcept
    requires(!detail::is_small_item<T>)
  {
    return item_.get();
  }

 private:
  static storage stored(object& item) noexcept {
    if constexpr (detail::is_small_item<T>) {
      storage copy;
      copy.put(item);
      return copy;
    } else {
      return storage(&item);
    }
  }
  basic_spsc_channel* channel_;
  storage item_;
};

template <class Strength, class T>
class basic_spsc_channel<Strength, T>::receiving {
 public:
  using value_type = T;
  static constexpr bool keeps_result = true;
  explicit receiving(basic_spsc_channel& channel) noexcept : channel_(&channel) {}
  bool try_now() noexcept { return channel_->can_receive(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return channel_->begin_receive(wait, entry);
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<T> take() noexcept { return channel_->pull(); }

 private:
  basic_spsc_channel* channel_;
};

template <class Strength, class T>
class basic_spsc_channel<Strength, T>::sending_batch {
 public:
  using value_type = std::size_t;
  sending_batch(basic_spsc_channel& channel, std::span<T> items) noexcept
      : channel_(&channel), items_(items.data()), count_(items.size()) {}
  bool try_now() noexcept { return count_ == 0 || channel_->can_send(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return channel_->begin_send(wait, entry);
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<std::size_t> take() noexcept {
    if (count_ == 0) return count_;
    return channel_->push_some(count_, [this](std::size_t i) -> T&& { return std::move(items_.get()[i]); });
  }
  const void* refers_to() const noexcept { return count_ == 0 ? nullptr : items_.get(); }

 private:
  basic_spsc_channel* channel_;
  detail::own_pointer<T> items_;
  std::size_t count_;
};

template <class Strength, class T>
class basic_spsc_channel<Strength, T>::receiving_batch {
 public:
  using value_type = std::size_t;
  static constexpr bool keeps_result = true;
  receiving_batch(basic_spsc_channel& channel, std::span<T> buffer) noexcept
      : channel_(&channel), buffer_(buffer.data()), count_(buffer.size()) {}
  bool try_now() noexcept { return count_ == 0 || channel_->can_receive(); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return channel_->begin_receive(wait, entry);
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<std::size_t> take() noexcept {
    if (count_ == 0) return count_;
    return channel_->pull_some(buffer_.get(), count_);
  }

 private:
  basic_spsc_channel* channel_;
  detail::own_pointer<T> buffer_;
  std::size_t count_;
};

template <class T>
using spsc_channel = basic_spsc_channel<strength::shared, T>;
namespace unsync {
template <class T>
using spsc_channel = basic_spsc_channel<strength::unsync, T>;
}

}}  // namespace hocket
