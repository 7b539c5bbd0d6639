// A multi-producer, multi-consumer channel, first in, first out.
//
//   channel<int> c(16);                        // 16 places; 0: a rendezvous; channel<int>::unbounded: no limit
//   auto sent = co_await c.send(7);            // result<void>: waits for a place; a fiber and a thread: await(...)
//   auto item = co_await c.receive();          // result<int>: waits for an item
//   c.close();                                 // no more sends; the items in the channel are still received
//
//   while (auto n = await(c.receive())) use(*n);    // until the channel is closed and empty
//
// Guarantees.
//   - First come, first served, among senders and among receivers.
//   - Items leave the channel in the order in which they entered it.
//   - With 0 places, a send ends when a receiver has taken the item.
//   - No item is lost or duplicated: it is with the sender, in the channel or with one receiver.
//   - If a send is cancelled, timed out or killed, or finds the channel closed, the item is where it was: an rvalue is
//     moved back into the caller's object when the sender resumes.
//   - Everything that a sender did before the send is visible to the receiver of the item.
//   - No operation runs foreign code, except T's constructors and destructors under the inner mutex. They must not use
//     the channel.
//   - If a receiver was granted an item and is destroyed before it resumes, the item goes to the next receiver, or back
//     into the channel before all other items, even if the channel is full or closed. A killed receiver takes its item.
//
// Closing.
//   - After close(), sends fail with errc::closed, which equals std::errc::broken_pipe. So do sends that wait.
//   - Receives continue until the channel is empty. Then they fail with the same error.
//   - close(error) gives all these sends and receives that error instead. Of several closes, the first one counts.
//   - A channel may be closed while coroutines wait. A channel must outlive its waiters: its earlier destruction is
//     fatal at check level `debug`. A waiter that close() has ended does not count.
//
// Batches. send_batch() and receive_batch() wait until one item has passed. Then they move all items that pass without
// waiting, in one critical section; receive_batch() uses one for each 512 bytes of items. The result<std::size_t> is
// the number of items. A batch fails only if that number would be 0.
//
// Cost. An operation is one short critical section, and one more if it waits. A batch that has waited adds one. With
// one sender and one receiver, sync/spsc_channel.hpp is faster.
//
// Thread safety. Any thread. unsync::channel is for the coroutines of one thread.
//
// Cancellation. Every wait can be cancelled, timed and selected, sends and receives alike. Two selects that meet are
// granted both or neither. A select with both ends of one channel does not meet itself.
//
// Requirements on T. T is nothrow-move-constructible and aligned to at most 16 bytes. A send refers to the caller's
// object until its await has ended. A small trivially copyable item is copied at the call instead. Any other copy is
// made when the item is sent or the wait begins.
//
// Memory. The constructor allocates the places. An unbounded channel allocates blocks of about 4 KiB when it needs
// them, and keeps one spare block. If there is no memory, the send fails with std::errc::not_enough_memory. An item
// that returns from a destroyed receiver needs memory if another returned item is in the channel. A lack of that memory
// is fatal. Nothing else allocates.
//
// Implementation. The mutex guards the queue of items and two wait queues, senders and receivers. The operation of each
// waiter holds the waiter's item, or storage for it, and does not move during the wait.
//
//   senders wait      the queue is full, and no receiver waits
//   receivers wait    the queue is empty, and no sender waits
//
// Exception: waiters that a stop, a deadline or another source has ended, until they unlink themselves. A send goes 1.
// to the first receiver that can be granted, 2. into the queue, 3. into the wait queue. A receive takes 1. the first
// item of the queue (the first sender that can be granted then fills the place), 2. the item of the first sender that
// can be granted, 3. a place in the wait queue.
//
// Under the mutex, the operation claims the wait of its partner. After that nothing else ends this wait, and its memory
// stays valid until the grant is posted, so the item can be moved. The grant is posted after the unlock
// (core/wait/seam/grant.hpp). A wait that cannot be claimed is skipped, so an ended wait at the head of a queue never
// blocks the others. An ended wait unlinks itself under the mutex, so its item is not moved later.
#pragma once
#include <hocket/primitive.hpp>
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

  // Throws bad_alloc. More places than memory can hold, for example a negative number, are fatal.
  explicit basic_channel(std::size_t places) : base(detail::possible_places<T>(places)) {}
  explicit basic_channel(unbounded_t) noexcept : base(base::no_limit) {}

  // Waits until a receiver takes the item or a place is free. `item` must stay valid until the wait has ended.
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
  result<void> try_send(T&& item) noexcept { return try_send_as<T&&>(std::move(item)); }
  result<void> try_send(const T& item) noexcept {
    static_assert(std::is_nothrow_copy_constructible_v<T>,
                  "hocket: an item that cannot be copied without exceptions: say try_send(std::move(item)), or "
                  "try_send(T(item))");
    return try_send_as<const T&>(item);
  }
  result<T> try_receive() noexcept {
    receiving op(*this);
    if (!op.try_now()) return failure(std::errc::resource_unavailable_try_again);
    return op.take();
  }

  // Waits until the first of `items` is sent, and sends as many more as possible at once. Moves from the sent items.
  [[nodiscard]] primitive::operation<sending_batch> send_batch(std::span<T> items,
                                                               call_site site = this_call_site()) noexcept {
    return primitive::operation<sending_batch>(std::in_place, site, *this, items);
  }
  // Waits for one item, and takes as many as the channel has, at most the size of `buffer`. Assigns to its elements.
  [[nodiscard]] primitive::operation<receiving_batch> receive_batch(std::span<T> buffer,
                                                                    call_site site = this_call_site()) noexcept {
    static_assert(std::is_nothrow_move_assignable_v<T>,
                  "hocket: receive_batch() assigns to the objects of the span, without exceptions: use receive()");
    return primitive::operation<receiving_batch>(std::in_place, site, *this, buffer);
  }

  // False: the channel was closed before; nothing changes.
  bool close() noexcept { return base::close(errc::closed); }
  bool close(std::error_code error) noexcept { return base::close(error); }

  // Hints, outdated at once if others use the channel. capacity() is 0 for a rendezvous, and the largest number if the
  // channel is unbounded.
  std::size_t size() const noexcept { return this->items(); }
  std::size_t capacity() const noexcept { return this->places(); }
  bool is_closed() const noexcept { return this->closed(); }

 private:
  template <class U>
  result<void> try_send_as(U&& item) noexcept {
    detail::channel_party sender(false);
    if (!this->send_now(sender, std::forward<U>(item))) return failure(errc::full);
    if (sender.failed()) return failure(sender.error());
    return {};
  }
};

template <class Strength, class T>
template <class U>
class basic_channel<Strength, T>::sending {
 public:
  using value_type = void;
  sending(basic_channel& channel, U&& item) noexcept : channel_(&channel), item_(std::forward<U>(item)) {}
  bool try_now() noexcept { return channel_->send_now(item_.slot, item_.get()); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return channel_->begin_send(wait, entry, item_.slot, item_.get(), [this] { item_.store(); });
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<void> take() noexcept {
    if (item_.slot.failed()) [[unlikely]]
      return failure(item_.slot.error());
    return {};
  }
  const void* moves_from() const noexcept
    requires(std::is_same_v<detail::sent_item<T, U>, detail::moved_item<T>>)
  {
    return item_.original();
  }
  const void* refers_to() const noexcept
    requires(std::is_same_v<detail::sent_item<T, U>, detail::copied_item<T>>)
  {
    return item_.original();
  }
  void resumed() noexcept
    requires(detail::sent_item<T, U>::is_moved)
  {
    item_.give_back();
  }

 private:
  basic_channel* channel_;
  detail::sent_item<T, U> item_;
};

template <class Strength, class T>
class basic_channel<Strength, T>::receiving {
 public:
  using value_type = T;
  explicit receiving(basic_channel& channel) noexcept : channel_(&channel) {}
  bool try_now() noexcept { return channel_->receive_now(slot_); }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    return channel_->begin_receive(wait, entry, slot_);
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<T> take() noexcept {
    if (slot_.failed()) [[unlikely]]
      return failure(slot_.error());
    result<T> item(std::in_place, std::move(slot_.item()));
    slot_.clear();
    return item;
  }

 private:
  basic_channel* channel_;
  detail::channel_slot<T> slot_{true};
};

template <class Strength, class T>
class basic_channel<Strength, T>::sending_batch {
 public:
  using value_type = std::size_t;
  sending_batch(basic_channel& channel, std::span<T> items) noexcept
      : channel_(&channel), items_(items.data()), count_(items.size()) {}
  bool try_now() noexcept {
    if (count_ == 0) return true;
    sent_ = channel_->send_some(first_.slot, items_.get(), count_);
    return sent_ != 0 || first_.slot.failed();
  }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    waited_ = true;
    first_.refer_to(*items_.get());
    return channel_->begin_send(wait, entry, first_.slot, first_.get(), [this] { first_.store(); });
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<std::size_t> take() noexcept {
    if (sent_ == 0 && first_.slot.failed()) return failure(first_.slot.error());
    if (waited_) sent_ = 1 + channel_->send_some(first_.slot, items_.get() + 1, count_ - 1);
    return sent_;
  }
  const void* moves_from() const noexcept { return count_ == 0 ? nullptr : items_.get(); }
  void resumed() noexcept { first_.give_back(); }

 private:
  basic_channel* channel_;
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
  receiving_batch(basic_channel& channel, std::span<T> buffer) noexcept
      : channel_(&channel), buffer_(buffer.data()), count_(buffer.size()) {}
  bool try_now() noexcept {
    if (count_ == 0) return true;
    received_ = channel_->receive_some(first_, buffer_.get(), count_);
    return received_ != 0 || first_.failed();
  }
  bool begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    waited_ = true;
    return channel_->begin_receive(wait, entry, first_);
  }
  primitive::wait_source& source() const noexcept { return *channel_; }
  result<std::size_t> take() noexcept {
    if (received_ == 0 && first_.failed()) return failure(first_.error());
    if (!waited_) return received_;
    *buffer_.get() = std::move(first_.item());
    first_.clear();
    return 1 + channel_->receive_some(first_, buffer_.get() + 1, count_ - 1);
  }

 private:
  basic_channel* channel_;
  detail::own_pointer<T> buffer_;
  std::size_t count_;
  std::size_t received_ = 0;
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
