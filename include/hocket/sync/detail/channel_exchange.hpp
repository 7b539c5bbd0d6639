// How items go through a channel: from senders to receivers that wait, into the queue and out of it, from senders that
// wait into the places that come free. Each is one critical section; who was granted is told behind it. The essay is in
// sync/channel.hpp.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/sync/detail/channel_core.hpp>
#include <hocket/sync/detail/item_queue.hpp>
#include <hocket/sync/detail/own_pointer.hpp>
#include <hocket/sync/detail/taken_items.hpp>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A party and room for its item, which stays put while it waits.
template <class T>
class channel_slot : public channel_party, public item_room<T> {
 public:
  using channel_party::channel_party;
  static channel_slot& of(waiter& entry) noexcept { return static_cast<channel_slot&>(channel_party::of(entry)); }
};

template <class Strength, class T>
class channel_exchange : public channel_core<Strength> {
  using base = channel_core<Strength>;
  using slot = channel_slot<T>;
  using phase = channel_party::phase;

 public:
  static constexpr std::size_t no_limit = item_queue<T>::no_limit;

  explicit channel_exchange(std::size_t places) : queue_(places) {}
  // True: the sender is done, or has failed. `item` is untouched if not done. Where there is a place and nobody to be
  // granted, nothing is done but that; the rest is out of line.
  template <class U>
  bool send_now(channel_party& sender, U&& item) noexcept {
    this->mutex_.lock();
    if (this->known() != base::outlook::sendable || queue_.full() || !queue_.make_room())
      return send_or_fail(sender, std::forward<U>(item));
    queue_.push(std::forward<U>(item));
    this->mutex_.unlock();
    sender.state = phase::done;
    return true;
  }
  // As many as there is room for, and receivers wait for. Less than `n`: it is full, or `sender` has failed.
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
  // `keep` moves the item into the slot if it has to wait there (true).
  template <class U, class Keep>
  bool begin_send(suspension& wait, waiter& entry, slot& sender, U&& item, Keep keep) noexcept {
    entry.resource = static_cast<channel_party*>(&sender);
    grants granted;
    {
      locked guard(this->mutex_);
      if (this->closed_) {
        fail_now(wait, entry, sender, this->why_);
      } else if (waiter* receiver = this->meet(this->receivers_, wait, entry, granted)) {
        hand(*receiver, std::forward<U>(item));
        sender.state = phase::done;
      } else if (wait.decided()) {
        return false;
      } else if (queue_.full()) {
        keep();
        sender.state = phase::waits;
        this->note(base::outlook::unknown);
        return this->senders_.enlist(wait, *this, entry);
      } else if (!queue_.make_room()) {
        fail_now(wait, entry, sender, std::make_error_code(std::errc::not_enough_memory));
      } else if (wait.take_now(entry, *this)) {
        queue_.push(std::forward<U>(item));
        this->note_item();
        sender.state = phase::done;
      }
    }
    granted.post();
    return false;
  }

  // True: the receiver has an item, or has failed. If the channel is known to be bare, returns false without the mutex;
  // begin_receive() looks again under it.
  bool receive_now(slot& receiver) noexcept {
    if (this->known() == base::outlook::bare) [[unlikely]]
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
    std::size_t got = 0;
    for (bool more = true; more;) {
      taken_items<T> part;
      grants granted;
      {
        locked guard(this->mutex_);
        while (got + part.size() < n && !part.is_full() &&
               pull([&](T&& item) { part.add(std::move(item)); }, granted)) {
        }
        if (got + part.size() == 0 && this->closed_) receiver.fail(this->why_);
      }
      granted.post();
      part.assign_to(items + got);
      got += part.size();
      more = part.is_full() && got < n;
    }
    return got;
  }
  // True: it waits.
  bool begin_receive(suspension& wait, waiter& entry, slot& receiver) noexcept {
    entry.resource = static_cast<channel_party*>(&receiver);
    grants granted;
    {
      locked guard(this->mutex_);
      if (returned_ || queue_.size() != 0) {
        if (!wait.take_now(entry, *this)) return false;
        [[maybe_unused]] bool got = pull([&](T&& item) { receiver.put(std::move(item)); }, granted);
        receiver.state = phase::done;
      } else if (waiter* sender = this->meet(this->senders_, wait, entry, granted)) {
        receiver.put(std::move(slot::of(*sender).item()));
        receiver.state = phase::done;
        emptied(*sender);
      } else if (wait.decided()) {
        return false;
      } else if (this->closed_) {
        fail_now(wait, entry, receiver, this->why_);
      } else {
        this->note(this->senders_.empty() ? base::outlook::bare : base::outlook::unknown);  // its own select may send
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
    for (returned* one = returned_; one; one = one->next) ++n;
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
  // An item that came back from a receiver which was destroyed before it took it.
  struct returned {
    returned* next;
    alignas(T) std::byte bytes[sizeof(T)];
    T& item() noexcept { return *std::launder(reinterpret_cast<T*>(bytes)); }
  };

  // --- the rest of send_now() and receive_now(), which have locked the mutex

  template <class U>
  [[HOCKET_NOINLINE]] bool send_or_fail(channel_party& sender, U&& item) noexcept {
    grants granted;
    bool over;
    {
      locked guard(this->mutex_, adopt_lock);
      over = offer(sender, std::forward<U>(item), granted);
    }
    granted.post();
    return over;
  }
  [[HOCKET_NOINLINE]] bool receive_or_fail(slot& receiver) noexcept {
    grants granted;
    bool over = true;
    {
      locked guard(this->mutex_, adopt_lock);
      if (pull([&](T&& item) { receiver.put(std::move(item)); }, granted)) receiver.state = phase::done;
      else if (this->closed_) receiver.fail(this->why_);
      else over = false;
    }
    granted.post();
    return over;
  }

  // --- under the mutex

  template <class U>
  bool offer(channel_party& sender, U&& item, grants& granted) noexcept {
    if (this->closed_) return sender.fail(this->why_), true;
    if (!this->receivers_.empty()) {
      if (waiter* receiver = this->grant_first(this->receivers_, granted)) {
        hand(*receiver, std::forward<U>(item));
        return sender.state = phase::done, true;
      }
    }
    if (queue_.full()) return false;
    if (!queue_.make_room()) return sender.fail(std::make_error_code(std::errc::not_enough_memory)), true;
    queue_.push(std::forward<U>(item));
    this->note_item();
    return sender.state = phase::done, true;
  }

  // The first item that there is. False: there is none.
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
    put(std::move(slot::of(*sender).item()));
    emptied(*sender);
    return true;
  }

  // A place has come free: the first who waits for one has it.
  void fill_place(grants& granted) noexcept {
    waiter* const sender = this->grant_first(this->senders_, granted);
    if (!sender) return;
    [[maybe_unused]] const bool room = queue_.make_room();  // a ring has it
    queue_.push(std::move(slot::of(*sender).item()));
    emptied(*sender);
  }

  template <class U>
  static void hand(waiter& receiver, U&& item) noexcept {
    slot& to = slot::of(receiver);
    to.put(std::forward<U>(item));
    to.state = phase::done;
  }
  static void emptied(waiter& sender) noexcept {
    slot& from = slot::of(sender);
    from.clear();
    from.state = phase::done;
  }
  void fail_now(suspension& wait, waiter& entry, channel_party& party, std::error_code why) noexcept {
    if (wait.take_now(entry, *this)) party.fail(why);
  }

  // Before all others. One place is always there; if several come back before one is received, memory is needed.
  void put_back(T&& item) noexcept {
    void* const memory = spare_taken_ ? source_allocate(sizeof(returned), alignof(returned)) : &spare_;
    expects(memory != nullptr, "there is no memory for an item that came back from a receiver that was destroyed",
            "do not destroy coroutines that were granted a receive(): let them run, or kill them");
    if (memory == &spare_) spare_taken_ = true;
    auto* const one = static_cast<returned*>(memory);
    ::new (static_cast<void*>(one->bytes)) T(std::move(item));
    one->next = std::exchange(returned_, one);
    this->note(base::outlook::unknown);
  }
  void drop_returned() noexcept {
    returned* const first = std::exchange(returned_, returned_->next);
    first->item().~T();
    if (first != &spare_) return source_release(first, sizeof(returned), alignof(returned));
    std::memset(spare_.bytes, 0, sizeof spare_.bytes);  // a collector finds nothing dead there
    spare_taken_ = false;
  }

  // --- as a wait_source

  void pass_on(waiter& entry) noexcept override {
    slot& from = slot::of(entry);
    if (!from.receives || from.state != phase::done) return;
    grants granted;
    {
      locked guard(this->mutex_);
      if (waiter* next = this->grant_first(this->receivers_, granted)) hand(*next, std::move(from.item()));
      else put_back(std::move(from.item()));
    }
    from.clear();
    from.state = phase::begun;
    granted.post();
  }

  // Guarded by mutex_:
  item_queue<T> queue_;
  returned* returned_ = nullptr;
  returned spare_;
  bool spare_taken_ = false;
};

}}}  // namespace hocket::detail
