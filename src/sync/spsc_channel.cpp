#include <hocket/sync/detail/spsc_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
void spsc_core<Strength>::set_flags(std::uint32_t flags) noexcept {
  // ORDER: relaxed, pairs with nothing: it changes under the mutex.
  const std::uint32_t others = flags_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that the load of the other end's count behind it moves up before it, see publish() and
  // freed().
  flags_.store(others | flags, std::memory_order_seq_cst);
}

// If the other end still reads the old flag, it locks the mutex and finds no waiter.
template <class Strength>
void spsc_core<Strength>::clear_flags(flag bits) noexcept {
  // ORDER: relaxed, pairs with nothing: it changes under the mutex.
  const std::uint32_t flags = flags_.load(std::memory_order_relaxed);
  // ORDER: release, pairs with the load in is_closed(): a thread that reads `closed` here may read close_error().
  flags_.store(flags & ~bits, std::memory_order_release);
}

template <class Strength>
grant spsc_core<Strength>::claim(waiter*& end, flag bits) noexcept {
  grant claimed = end ? end->claim() : grant();
  if (claimed) take_out(end, bits);
  return claimed;
}

template <class Strength>
void spsc_core<Strength>::take_out(waiter*& end, flag bits) noexcept {
  end = nullptr;
  clear_flags(bits);
}

template <class Strength>
bool spsc_core<Strength>::begin_send(suspension& wait, waiter& entry) noexcept {
  locked guard(mutex_);
  expects(!sender_, two_senders, "a spsc_channel has one of each at a time: say channel<T>");
  if (wait.decided()) return false;
  set_flags(sender_waits);
  // ORDER: relaxed, pairs with nothing: the sender's own.
  const std::size_t sent = sent_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that it moves up before the flag.
  const bool full = sent - received_.load(std::memory_order_seq_cst) == places_;
  if (full && !is_closed()) return enlist(wait, entry, sender_);
  clear_flags(sender_waits);
  [[maybe_unused]] const bool granted = wait.take_now(entry, *this);  // false: the wait is decided otherwise
  return false;
}

template <class Strength>
bool spsc_core<Strength>::begin_receive(suspension& wait, waiter& entry) noexcept {
  locked guard(mutex_);
  expects(!receiver_, two_receivers, "a spsc_channel has one of each at a time: say channel<T>");
  if (wait.decided()) return false;
  set_flags(receiver_waits);
  // ORDER: relaxed, pairs with nothing: the receiver's own.
  const std::size_t received = received_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that it moves up before the flag.
  const bool empty = sent_.load(std::memory_order_seq_cst) == received;
  if (empty && !is_closed()) return enlist(wait, entry, receiver_);
  clear_flags(receiver_waits);
  [[maybe_unused]] const bool granted = wait.take_now(entry, *this);  // as above
  return false;
}

// As wait_queue::enlist(): the last access of the registrar to the wait.
template <class Strength>
bool spsc_core<Strength>::enlist(suspension& wait, waiter& entry, waiter*& end) noexcept {
  entry.enlist_or_stay(wait, *this);
  end = &entry;
  return true;
}

template <class Strength>
bool spsc_core<Strength>::publish_slowly(std::size_t n) noexcept {
  grant receiver;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: the sender's own.
    const std::size_t sent = sent_.load(std::memory_order_relaxed);
    // ORDER: relaxed, pairs with nothing: it does not change while the receiver waits, or after its end.
    if (received_.load(std::memory_order_relaxed) == sent) return true;
    if (ended_) {
      // ORDER: relaxed, pairs with nothing: the receiver has ended.
      sent_.store(sent - n, std::memory_order_relaxed);
      return false;
    }
    receiver = claim(receiver_, receiver_waits);
  }
  receiver.post();
  return true;
}

template <class Strength>
void spsc_core<Strength>::wake_sender() noexcept {
  grant sender;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: it does not change while the sender waits.
    const std::size_t sent = sent_.load(std::memory_order_relaxed);
    // ORDER: relaxed, pairs with nothing: the receiver's own.
    if (sent - received_.load(std::memory_order_relaxed) == places_) return;
    sender = claim(sender_, sender_waits);
  }
  sender.post();
}

template <class Strength>
void spsc_core<Strength>::record_end() noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: the receiver's own.
  const std::size_t received = received_.load(std::memory_order_relaxed);
  // ORDER: seq_cst, forbids that it moves up before the flag of close(): a sender that has not read this flag has
  // written its count before.
  if (is_closed() && sent_.load(std::memory_order_seq_cst) == received) ended_ = true;
}

template <class Strength>
bool spsc_core<Strength>::close(std::error_code error) noexcept {
  expects(static_cast<bool>(error), "a channel was closed with an error code that means success",
          "say close(), or give the error that the waiters get");
  grant sender, receiver;
  {
    locked guard(mutex_);
    if (is_closed()) return false;
    close_error_ = error;
    set_flags(closed);
    sender = claim(sender_, sender_waits);
    receiver = claim(receiver_, receiver_waits);
  }
  sender.post();
  receiver.post();
  return true;
}

template <class Strength>
bool spsc_core<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (sender_ == &entry) {
    take_out(sender_, sender_waits);
    return true;
  }
  if (receiver_ == &entry) {
    take_out(receiver_, receiver_waits);
    return true;
  }
  return false;
}

template class spsc_core<strength::shared>;
template class spsc_core<strength::unsync>;

}}}  // namespace hocket::detail
