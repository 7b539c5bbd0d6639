// How items pass through a channel: from a sender to a waiting receiver, into the queue and out of it, and from a
// waiting sender into a place that is free again. Each transfer is one critical section; grants are posted after it.
// The essay is in sync/channel.hpp.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/sync/detail/channel_core.hpp>
#include <hocket/sync/detail/item_queue.hpp>
#include <hocket/sync/detail/own_pointer.hpp>
#include <hocket/sync/detail/taken_items.hpp>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A party with storage for its item. It does not move during the wait.
template <class T>
class channel_slot : public channel_party, public item_storage<T> {
 public:
  using channel_party::channel_party;
};

template <class Strength, class T>
class channel_exchange : public channel_core<Strength> {
  using base = channel_core<Strength>;
  using slot = channel_slot<T>;
  using phase = channel_party::phase;

 public:
  static constexpr std::size_t no_limit = item_queue<T>::no_limit;

  explicit channel_exchange(std::size_t places) : queue_(places) {}
  // True: the sender is done, or has failed. `item` is untouched unless done. Inline: a free place, and no waiter to
  // grant.
  template <class U>
  bool send_now(channel_party& sender, U&& item) noexcept {
    this->mutex_.lock();
    if (this->outlook_hint() != base::outlook::sendable || queue_.full() || !queue_.reserve_place())
      return send_or_fail(sender, std::forward<U>(item));
    queue_.push(std::forward<U>(item));
    this->mutex_.unlock();
    sender.state = phase::done;
    return true;
  }
  // Sends to all waiting receivers and into all free places. Fewer than `n`: it is full, or `sender` has failed.
  std::size_t send_some(channel_party& sender, T* items, std::size_t n) noexcept {
    grants granted;
    std::size_t sent = 0;
    {
      locked guard(this->mutex_);
      while (sent < n && offer(sender, std::move(items[sent]), granted) && !sender.failed()) ++sent;
    }
    granted.post();
    return sent;
  }
  // True: the sender waits. Then `store` has moved the item into the slot.
  template <class U, class Store>
  bool begin_send(suspension& wait, waiter& entry, slot& sender, U&& item, Store store) noexcept {
    entry.resource = static_cast<channel_party*>(&sender);
    grants granted;
    {
      locked guard(this->mutex_);
      if (this->closed_) {
        fail_now(wait, entry, sender, this->close_error_);
      } else if (waiter* receiver = this->meet(this->receivers_, wait, entry, granted)) {
        deliver(*receiver, std::forward<U>(item));
        sender.state = phase::done;
      } else if (wait.decided()) {
        return false;
      } else if (queue_.full()) {
        store();
        sender.state = phase::waits;
        this->set_outlook(base::outlook::unknown);
        return this->senders_.enlist(wait, *this, entry);
      } else if (!queue_.reserve_place()) {
        fail_now(wait, entry, sender, std::make_error_code(std::errc::not_enough_memory));
      } else if (wait.take_now(entry, *this)) {
        queue_.push(std::forward<U>(item));
        this->update_after_push();
        sender.state = phase::done;
      }
    }
    granted.post();
    return false;
  }

  // True: the receiver has an item, or has failed. If the channel is known to be bare, returns false without the mutex;
  // begin_receive() looks again under it.
  bool receive_now(slot& receiver) noexcept {
    if (this->outlook_hint() == base::outlook::bare) [[unlikely]]
      return false;
    this->mutex_.lock();
    if (returned_ || queue_.size() == 0 || !this->senders_.empty()) return receive_or_fail(receiver);
    receiver.put(std::move(queue_.front()));
    queue_.pop();
    this->mutex_.unlock();
    receiver.state = phase::done;
    return true;
  }
  std::size_t receive_some(channel_party& receiver, T* items, std::size_t n) noexcept {
    std::size_t received = 0;
    for (bool more = true; more;) {
      taken_items<T> part;
      grants granted;
      {
        locked guard(this->mutex_);
        while (received + part.size() < n && !part.is_full() &&
               pull([&](T&& item) { part.add(std::move(item)); }, granted)) {
        }
        if (received + part.size() == 0 && this->closed_) receiver.fail(this->close_error_);
      }
      granted.post();
      part.assign_to(items + received);
      received += part.size();
      more = part.is_full() && received < n;
    }
    return received;
  }
  // True: it waits.
  bool begin_receive(suspension& wait, waiter& entry, slot& receiver) noexcept {
    entry.resource = static_cast<channel_party*>(&receiver);
    grants granted;
    {
      locked guard(this->mutex_);
      if (returned_ || queue_.size() != 0) {
        if (!wait.take_now(entry, *this)) return false;
        [[maybe_unused]] const bool pulled = pull([&](T&& item) { receiver.put(std::move(item)); }, granted);
        receiver.state = phase::done;
      } else if (waiter* sender = this->meet(this->senders_, wait, entry, granted)) {
        receiver.put(std::move(slot_of(*sender).item()));
        receiver.state = phase::done;
        emptied(*sender);
      } else if (wait.decided()) {
        return false;
      } else if (this->closed_) {
        fail_now(wait, entry, receiver, this->close_error_);
      } else {
        // A sender may be in the queue: of the same select.
        this->set_outlook(this->senders_.empty() ? base::outlook::bare : base::outlook::unknown);
        return this->receivers_.enlist(wait, *this, entry);
      }
    }
    granted.post();
    return false;
  }

  std::size_t places() const noexcept { return queue_.places(); }
  std::size_t items() const noexcept {
    locked guard(this->mutex_);
    std::size_t n = queue_.size();
    for (returned* node = returned_; node; node = node->next) ++n;
    return n;
  }
  bool closed() const noexcept {
    locked guard(this->mutex_);
    return this->closed_;
  }

 protected:
  ~channel_exchange() {
    while (returned_) drop_returned();
  }

 private:
  // An item of a receiver that was destroyed before it took the item.
  struct returned {
    returned* next;
    alignas(T) std::byte bytes[sizeof(T)];
    T& item() noexcept { return *std::launder(reinterpret_cast<T*>(bytes)); }
  };

  // --- the rest of send_now() and receive_now(), which have locked the mutex

  template <class U>
  [[HOCKET_NOINLINE]] bool send_or_fail(channel_party& sender, U&& item) noexcept {
    grants granted;
    bool ended;
    {
      locked guard(this->mutex_, adopt_lock);
      ended = offer(sender, std::forward<U>(item), granted);
    }
    granted.post();
    return ended;
  }
  [[HOCKET_NOINLINE]] bool receive_or_fail(slot& receiver) noexcept {
    grants granted;
    bool ended = true;
    {
      locked guard(this->mutex_, adopt_lock);
      if (pull([&](T&& item) { receiver.put(std::move(item)); }, granted)) receiver.state = phase::done;
      else if (this->closed_) receiver.fail(this->close_error_);
      else ended = false;
    }
    granted.post();
    return ended;
  }

  static slot& slot_of(waiter& entry) noexcept { return static_cast<slot&>(base::party_of(entry)); }

  // --- under the mutex

  // The end of a send: true.
  static bool finish(channel_party& sender) noexcept {
    sender.state = phase::done;
    return true;
  }
  static bool reject(channel_party& sender, std::error_code error) noexcept {
    sender.fail(error);
    return true;
  }

  template <class U>
  bool offer(channel_party& sender, U&& item, grants& granted) noexcept {
    if (this->closed_) return reject(sender, this->close_error_);
    if (!this->receivers_.empty()) {
      if (waiter* receiver = this->grant_first(this->receivers_, granted)) {
        deliver(*receiver, std::forward<U>(item));
        return finish(sender);
      }
    }
    if (queue_.full()) return false;
    if (!queue_.reserve_place()) return reject(sender, std::make_error_code(std::errc::not_enough_memory));
    queue_.push(std::forward<U>(item));
    this->update_after_push();
    return finish(sender);
  }

  // Takes the first item. False: there is none.
  template <class Put>
  bool pull(Put put, grants& granted) noexcept {
    if (returned_) [[unlikely]] {
      put(std::move(returned_->item()));
      drop_returned();
      return true;
    }
    if (queue_.size() != 0) {
      put(std::move(queue_.front()));
      queue_.pop();
      if (!this->senders_.empty()) fill_place(granted);
      return true;
    }
    if (this->senders_.empty()) return false;
    waiter* const sender = this->grant_first(this->senders_, granted);
    if (!sender) return false;
    put(std::move(slot_of(*sender).item()));
    emptied(*sender);
    return true;
  }

  // Gives the free place to the first waiting sender.
  void fill_place(grants& granted) noexcept {
    waiter* const sender = this->grant_first(this->senders_, granted);
    if (!sender) return;
    [[maybe_unused]] const bool reserved = queue_.reserve_place();  // always true: the queue is a ring
    queue_.push(std::move(slot_of(*sender).item()));
    emptied(*sender);
  }

  template <class U>
  static void deliver(waiter& receiver, U&& item) noexcept {
    slot& target = slot_of(receiver);
    target.put(std::forward<U>(item));
    target.state = phase::done;
  }
  static void emptied(waiter& sender) noexcept {
    slot& source = slot_of(sender);
    source.clear();
    source.state = phase::done;
  }
  void fail_now(suspension& wait, waiter& entry, channel_party& party, std::error_code error) noexcept {
    if (wait.take_now(entry, *this)) party.fail(error);
  }

  // Puts the item before all others. A second returned item needs memory.
  void put_back(T&& item) noexcept {
    void* const memory = spare_taken_ ? source_allocate(sizeof(returned), alignof(returned)) : &spare_;
    expects(memory != nullptr, "there is no memory for an item that a destroyed receiver returned",
            "do not destroy coroutines that were granted a receive(): let them run, or kill them");
    if (memory == &spare_) spare_taken_ = true;
    auto* const node = static_cast<returned*>(memory);
    ::new (static_cast<void*>(node->bytes)) T(std::move(item));
    node->next = std::exchange(returned_, node);
    this->set_outlook(base::outlook::unknown);
  }
  void drop_returned() noexcept {
    returned* const first = std::exchange(returned_, returned_->next);
    first->item().~T();
    if (first != &spare_) return source_release(first, sizeof(returned), alignof(returned));
    std::memset(spare_.bytes, 0, sizeof spare_.bytes);  // a collector must not find dead pointers here
    spare_taken_ = false;
  }

  // --- as a wait_source

  void pass_on(waiter& entry) noexcept override {
    slot& receiver = slot_of(entry);
    if (!receiver.receives || receiver.state != phase::done) return;
    grants granted;
    {
      locked guard(this->mutex_);
      if (waiter* next = this->grant_first(this->receivers_, granted)) deliver(*next, std::move(receiver.item()));
      else put_back(std::move(receiver.item()));
    }
    receiver.clear();
    receiver.state = phase::begun;
    granted.post();
  }

  // Guarded by mutex_:
  item_queue<T> queue_;
  returned* returned_ = nullptr;
  returned spare_;
  bool spare_taken_ = false;
};

}}}  // namespace hocket::detail
