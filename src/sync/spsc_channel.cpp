#include <hocket/sync/detail/spsc_core.hpp>

namespace hocket::inline HOCKET_ABI::detail {

template <class Strength>
void spsc_core<Strength>::note(std::uint32_t set, std::uint32_t cleared) noexcept {
  // ORDER: relaxed, pairs with nothing: it changes under the mutex.
  const std::uint32_t notes = notes_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that the look at the other end's count behind it moves up before it, see publish() and
  // freed().
  notes_.store((notes | set) & ~cleared, std::memory_order_seq_cst);
}

template <class Strength>
waiter* spsc_core<Strength>::take_out(waiter*& end, note_bits its) noexcept {
  waiter* const entry = std::exchange(end, nullptr);
  if (entry) note(0, its);
  return entry;
}

template <class Strength>
void spsc_core<Strength>::begin_send(suspension& wait, waiter& entry) noexcept {
  locked guard(mutex_);
  expects(!sender_, two_senders, "a spsc_channel has one of each at a time: say channel<T>");
  note(sender_waits, 0);
  // ORDER: relaxed, pairs with nothing: the sender's own.
  const std::size_t sent = sent_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that it moves up before the note.
  const bool full = sent - received_.load(std::memory_order_seq_cst) == places_;
  if (full && !is_closed()) {
    entry.enlist(wait, *this);
    sender_ = &entry;
  } else {
    note(0, sender_waits);
    [[maybe_unused]] const bool granted = wait.take_now(entry, *this);  // false: a select, by another operation
  }
}

template <class Strength>
void spsc_core<Strength>::begin_receive(suspension& wait, waiter& entry) noexcept {
  locked guard(mutex_);
  expects(!receiver_, two_receivers, "a spsc_channel has one of each at a time: say channel<T>");
  note(receiver_waits, 0);
  // ORDER: relaxed, pairs with nothing: the receiver's own.
  const std::size_t received = received_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that it moves up before the note.
  const bool empty = sent_.load(std::memory_order_seq_cst) == received;
  if (empty && !is_closed()) {
    entry.enlist(wait, *this);
    receiver_ = &entry;
  } else {
    note(0, receiver_waits);
    [[maybe_unused]] const bool granted = wait.take_now(entry, *this);  // as above
  }
}

template <class Strength>
bool spsc_core<Strength>::publish_slowly(std::size_t n) noexcept {
  waiter* receiver = nullptr;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: the sender's own.
    const std::size_t sent = sent_.load(std::memory_order_relaxed);
    // ORDER: relaxed, pairs with nothing: it does not change while the receiver waits, or when it has ended.
    if (received_.load(std::memory_order_relaxed) == sent) return true;
    if (ended_) {
      // ORDER: relaxed, pairs with nothing: nobody looks any more.
      sent_.store(sent - n, std::memory_order_relaxed);
      return false;
    }
    receiver = take_out(receiver_, receiver_waits);
  }
  if (receiver) receiver->grant();
  return true;
}

template <class Strength>
void spsc_core<Strength>::wake_sender() noexcept {
  waiter* sender = nullptr;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: it does not change while the sender waits.
    const std::size_t sent = sent_.load(std::memory_order_relaxed);
    // ORDER: relaxed, pairs with nothing: the receiver's own.
    if (sent - received_.load(std::memory_order_relaxed) == places_) return;
    sender = take_out(sender_, sender_waits);
  }
  if (sender) sender->grant();
}

template <class Strength>
void spsc_core<Strength>::look_for_end() noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: the receiver's own.
  const std::size_t received = received_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that it moves up before the note of close(): a sender that has not seen that note was here
  // before.
  if (is_closed() && sent_.load(std::memory_order_seq_cst) == received) ended_ = true;
}

template <class Strength>
bool spsc_core<Strength>::close(std::error_code why) noexcept {
  expects(static_cast<bool>(why), "a channel was closed with an error code that means success",
          "say close(), or give the error that those who wait are to get");
  waiter *sender, *receiver;
  {
    locked guard(mutex_);
    if (is_closed()) return false;
    why_ = why;
    note(closed, 0);
    sender = take_out(sender_, sender_waits);
    receiver = take_out(receiver_, receiver_waits);
  }
  if (sender) sender->grant();
  if (receiver) receiver->grant();
  return true;
}

template <class Strength>
bool spsc_core<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (sender_ == &entry) return take_out(sender_, sender_waits);
  if (receiver_ == &entry) return take_out(receiver_, receiver_waits);
  return false;
}

template class spsc_core<strength::shared>;
template class spsc_core<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
