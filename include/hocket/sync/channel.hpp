// A channel: items from any number of senders to any number of receivers, in order.
//
//   channel<int> c(16);                        // 16 places; 0: a rendezvous; channel<int>::unbounded: no limit
//   auto sent = co_await c.send(7);            // result<void>: waits for a place; a fiber and a thread: await(...)
//   auto item = co_await c.receive();          // result<int>: waits for an item
//   c.close();                                 // the end: what is in the channel is still received
//
//   while (auto n = await(c.receive())) use(*n);    // until it is closed and drained
//
// Guarantees. First come, first served, among senders and among receivers; items come out in the order in which they
// went in. With 0 places a send ends when a receiver has taken the item. An item is never lost or doubled: it is with
// the sender, in the channel or with one receiver. A send that was cancelled, timed out, killed or found the channel
// closed has its item where it was: an rvalue is moved back into the caller's object, when the sender goes on. What was
// done before a send is visible to whoever receives the item. Neither side runs foreign code, except that T's
// constructors and destructors run under the channel's inner mutex; they must not use the channel.
//
// A receiver that was granted an item and is destroyed before it goes on (killing is not that: it takes the item)
// passes it on: to the next receiver, or it comes back to the channel before all other items. That may be more than
// there are places, or in a closed channel.
//
// The end. After close() sends fail, also those that wait, with errc::closed, which equals std::errc::broken_pipe.
// Receives go on until the channel is empty; then they fail with the same. close(why) gives them all that error
// instead. Of several closes the first one counts. There may still be receivers and senders when a channel is closed,
// but no waits when it is destroyed (fatal at check level `debug`); those that close() has ended no longer count.
//
// Batches. send_batch() and receive_batch() wait until one item has gone through and then do as many as go without
// waiting, in one critical section: result<std::size_t> says how many. They fail only if it would be none.
//
// All is one short critical section per operation, and one more if it has to wait. Any thread; unsync::channel is for
// the coroutines of one thread. Every wait can be cancelled, timed and selected, sends and receives alike: two selects
// that meet are granted both or neither, and a select with both ends of a channel does not meet itself. For one sender
// and one receiver sync/spsc_channel.hpp is faster.
//
// The item. T is nothrow-move-constructible and aligned to 16 bytes at most. A send refers to the caller's object until
// it is awaited and is over; a small trivially copyable one is copied at once, any other copy is made when the item
// goes into the channel. A channel that is unbounded allocates blocks of some 4 KiB as it needs them, and keeps one
// spare; if there is no memory, the send fails with std::errc::not_enough_memory. Nothing else allocates.
//
// How. The mutex guards the queue and two lines, of senders and of receivers, each with its item or room for it in its
// operation, which stays where it is while it waits.
//
//   senders wait      the queue is full, and no receiver waits
//   receivers wait    the queue is empty, and no sender waits
//
// (but for those whose wait others have ended, and who are about to take themselves out of line). A send goes 1. to the
// first receiver that can be granted, 2. into the queue, 3. in line; a receive takes 1. the first item of the queue,
// whose place is then filled by the first sender that can be granted, 2. the item of such a sender, 3. a place in line.
//
// Who is granted is decided under the mutex, by its claim: then it is certain that the wait is not ended by others, and
// that its memory stays valid until the grant is posted, so the item can be moved. The grant is posted after the mutex
// is unlocked (core/detail/grant.hpp). A wait that cannot be granted is skipped: so a wait that is ended at the head of
// a line never holds up the others. A wait that ends otherwise takes itself out of line under the mutex, and so
// does not see its item moved after that.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/channel_exchange.hpp>
#include <hocket/sync/detail/places.hpp>
#include <hocket/sync/detail/sent_item.hpp>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength, class T>
class basic_channel final : private detail::channel_exchange<Strength, T> {
  static_assert(std::is_object_v<T> && !std::is_array_v<T> && !std::is_const_v<T>,
                "channel<T>: T is an object type: send a reference as a pointer, an array as a std::array");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "channel<T>: T must be movable without exceptions: send it by std::unique_ptr");
  static_assert(alignof(T) <= 16, "channel<T>: an over-aligned type: send it by std::unique_ptr");

  using base = detail::channel_exchange<Strength, T>;
  template <class U>
  class sending;
  class receiving;
  class sending_batch;
  class receiving_batch;
  struct unbounded_t {};

 public:
  using value_type = T;
  static constexpr unbounded_t unbounded{};

  // Throws bad_alloc. More places than memory can have, as a negative number says, are fatal.
  explicit basic_channel(std::size_t places) : base(detail::possible_places<T>(places)) {}
  explicit basic_channel(unbounded_t) noexcept : base(base::no_limit) {}

  // Waits until a receiver has the item, or a place. `item` must stay until the wait is over.
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
  result<void> try_send(T&& item) noexcept { return try_send_as<T&&>(std::move(item)); }
  result<void> try_send(const T& item) noexcept {
    static_assert(std::is_nothrow_copy_constructible_v<T>,
                  "hocket: an item that cannot be copied without exceptions: say try_send(std::move(item)), or "
                  "try_send(T(item))");
    return try_send_as<const T&>(item);
  }
  result<T> try_receive() noexcept {
    receiving now(*this);
    if (!now.try_now()) return failure(std::errc::resource_unavailable_try_again);
    return now.take();
  }

  // Waits until the first item of `items` is sent, and sends more of them if that can be done at once. Moves from
  // those.
  [[nodiscard]] primitive::operation<sending_batch> send_batch(std::span<T> items,
                                                               call_site at = this_call_site()) noexcept {
    return primitive::operation<sending_batch>(std::in_place, at, *this, items);
  }
  // Waits for one item, and takes as many as there are, and as there is room for in `room`. Assigns to that.
  [[nodiscard]] primitive::operation<receiving_batch> receive_batch(std::span<T> room,
                                                                    call_site at = this_call_site()) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "hocket: receive_batch() assigns to the objects of the span, without exceptions: use receive()");
    return primitive::operation<receiving_batch>(std::in_place, at, *this, room);
  }

  // False: it was closed before, and nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code why) noexcept { return base::close(why); }

  // Hints, outdated at once if others use the channel. The capacity is 0 for a rendezvous, and the largest number if
  // there is no limit.
  std::size_t size() const noexcept { return this->items(); }
  std::size_t capacity() const noexcept { return this->places(); }
  bool is_closed() const noexcept { return this->closed(); }

 private:
  template <class U>
  result<void> try_send_as(U&& item) noexcept {
    detail::channel_party sender(false);
    if (!this->send_now(sender, std::forward<U>(item))) return failure(std::errc::resource_unavailable_try_again);
    if (sender.failed()) return failure(sender.error());
    return {};
  }
};

template <class Strength, class T>
template <class U>
class basic_channel<Strength, T>::sending {
 public:
  using value_type = void;
  sending(basic_channel& to, U&& item) noexcept : to_(&to), item_(std::forward<U>(item)) {}
  bool try_now() noexcept { return to_->send_now(item_.slot, item_.get()); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return to_->begin_send(wait, entry, item_.slot, item_.get(), [this] { item_.keep(); });
  }
  primitive::wait_source& source() const noexcept { return *to_; }
  result<void> take() noexcept {
    if (item_.slot.failed()) [[unlikely]]
      return failure(item_.slot.error());
    return {};
  }
  const void* moves_from() const noexcept
    requires(std::is_same_v<detail::sent_item<T, U>, detail::moved_item<T>>)
  {
    return item_.from();
  }
  const void* refers_to() const noexcept
    requires(std::is_same_v<detail::sent_item<T, U>, detail::copied_item<T>>)
  {
    return item_.from();
  }
  void resumed() noexcept
    requires(detail::sent_item<T, U>::is_moved)
  {
    item_.give_back();
  }

 private:
  basic_channel* to_;
  detail::sent_item<T, U> item_;
};

template <class Strength, class T>
class basic_channel<Strength, T>::receiving {
 public:
  using value_type = T;
  explicit receiving(basic_channel& from) noexcept : from_(&from) {}
  bool try_now() noexcept { return from_->receive_now(slot_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return from_->begin_receive(wait, entry, slot_);
  }
  primitive::wait_source& source() const noexcept { return *from_; }
  result<T> take() noexcept {
    if (slot_.failed()) [[unlikely]]
      return failure(slot_.error());
    result<T> got(std::in_place, std::move(slot_.item()));
    slot_.clear();
    return got;
  }

 private:
  basic_channel* from_;
  detail::channel_slot<T> slot_{true};
};

template <class Strength, class T>
class basic_channel<Strength, T>::sending_batch {
 public:
  using value_type = std::size_t;
  sending_batch(basic_channel& to, std::span<T> items) noexcept
      : to_(&to), items_(items.data()), count_(items.size()) {}
  bool try_now() noexcept {
    if (count_ == 0) return true;
    sent_ = to_->send_some(first_.slot, items_.get(), count_);
    return sent_ != 0 || first_.slot.failed();
  }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    waited_ = true;
    first_.refer_to(*items_.get());
    return to_->begin_send(wait, entry, first_.slot, first_.get(), [this] { first_.keep(); });
  }
  primitive::wait_source& source() const noexcept { return *to_; }
  result<std::size_t> take() noexcept {
    if (sent_ == 0 && first_.slot.failed()) return failure(first_.slot.error());
    if (waited_) sent_ = 1 + to_->send_some(first_.slot, items_.get() + 1, count_ - 1);
    return sent_;
  }
  const void* moves_from() const noexcept { return count_ == 0 ? nullptr : items_.get(); }
  void resumed() noexcept { first_.give_back(); }

 private:
  basic_channel* to_;
  detail::own_pointer<T> items_;
  std::size_t count_;
  std::size_t sent_ = 0;
  detail::op_flag waited_;
  detail::moved_item<T> first_;
};

template <class Strength, class T>
class basic_channel<Strength, T>::receiving_batch {
 public:
  using value_type = std::size_t;
  receiving_batch(basic_channel& from, std::span<T> room) noexcept
      : from_(&from), room_(room.data()), count_(room.size()) {}
  bool try_now() noexcept {
    if (count_ == 0) return true;
    got_ = from_->receive_some(first_, room_.get(), count_);
    return got_ != 0 || first_.failed();
  }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    waited_ = true;
    return from_->begin_receive(wait, entry, first_);
  }
  primitive::wait_source& source() const noexcept { return *from_; }
  result<std::size_t> take() noexcept {
    if (got_ == 0 && first_.failed()) return failure(first_.error());
    if (!waited_) return got_;
    *room_.get() = std::move(first_.item());
    first_.clear();
    return 1 + from_->receive_some(first_, room_.get() + 1, count_ - 1);
  }

 private:
  basic_channel* from_;
  detail::own_pointer<T> room_;
  std::size_t count_;
  std::size_t got_ = 0;
  detail::op_flag waited_;
  detail::channel_slot<T> first_{true};
};

template <class T>
using channel = basic_channel<strength::shared, T>;
namespace unsync {
template <class T>
using channel = basic_channel<strength::unsync, T>;
}

}}  // namespace hocket
