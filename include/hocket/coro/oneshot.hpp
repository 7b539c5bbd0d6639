// oneshot: a channel for one value, with one sender and one receiver.
//
//   auto [tx, rx] = make_oneshot<int>();
//   tx.send(7);                                // any thread; never waits. False: the receiver is gone
//   auto seven = co_await rx.receive();        // result<int>; a fiber and a thread: await(rx.receive())
//
// Guarantees.
//   - The value is never lost on the way: if a receive() was cancelled or timed out, or lost a select, the value stays,
//     and the next receive() gives it.
//   - send() neither suspends nor runs foreign code.
//   - Everything before send() is visible after receive().
//
// Errors. If the sender ends without a send, or the value was taken before, receive() fails with
// std::errc::broken_pipe.
//
// Do not. If the receiver is destroyed while its receive() waits, that is fatal. Prevented by a receiver that outlives
// its receive(). It is also fatal if two receive() wait at the same time.
//
// Thread safety. The two ends may be moved to different threads. One thread at a time uses each end.
//
// Requirements on T. T is an object type (move-only included) or void.
//
// Memory. The ends share one state, in frame memory.
//
// Implementation. The word of the state says which waiter to grant, and which end frees the state:
//
//   word      meaning                        changes
//   open      nothing has happened           -> waiting   receive()
//                                            -> sent, broken   send(), the end of the sender
//                                            -> dropped   the end of the receiver
//   waiting   the address of a waiter        -> open   another source has ended the wait
//                                            -> sent, broken   and the waiter is granted
//   sent      the value is in the slot       -> broken   the value was taken
//   broken    no value will arrive           final for the receiver
//   dropped   the receiver is gone           final for the sender
//
// The sender writes the slot before `sent`, and does not touch the state afterwards: the receiver owns the state then.
// So the end that finds the other end gone frees the state. A sender that has found a waiter may grant it: before the
// grant, that wait cannot end, and its receiver cannot be destroyed.
#pragma once
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/strength.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The state of a oneshot without the value.
template <class Strength>
class oneshot_word : public wait_source {
 public:
  bool ended() const noexcept {
    // ORDER: acquire, pairs with the exchange in finish().
    const std::uintptr_t word = word_.load(std::memory_order_acquire);
    return word == sent || word == broken;
  }
  // ORDER: relaxed, pairs with nothing: a sender that acts on the answer reads the word again, in finish().
  bool is_dropped() const noexcept { return word_.load(std::memory_order_relaxed) == dropped; }

  void begin(suspension& wait, waiter& entry) noexcept {
    if (ended()) {
      [[maybe_unused]] bool taken = wait.take_now(entry, *this);
      return;
    }
    entry.enlist(wait, *this);
    std::uintptr_t word = open;
    // ORDER: release, pairs with the exchange in finish(): the complete waiter is visible there; acquire on failure,
    // pairs with the same exchange: the value is visible here.
    if (word_.compare_exchange_strong(word, reinterpret_cast<std::uintptr_t>(&entry), std::memory_order_release,
                                      std::memory_order_acquire))
      return;
    expects(word == sent || word == broken, "a oneshot is received by two at once", "receive it in one place");
    entry.claim_popped().post();
  }

 protected:
  static constexpr std::uintptr_t open = 0, sent = 1, broken = 2, dropped = 3;  // otherwise the address of a waiter
  static_assert(alignof(waiter) > dropped);

  oneshot_word() noexcept = default;
  ~oneshot_word() = default;

  // Ends the sender. True: the receiver is gone, and the sender must free the state.
  [[nodiscard]] bool finish(std::uintptr_t final_word) noexcept {
    // ORDER: acq_rel, pairs with ended() and with the compare-exchange in begin(): the value is visible there, and the
    // waiter is visible here.
    const std::uintptr_t old = word_.exchange(final_word, std::memory_order_acq_rel);
    if (old == dropped) return true;
    if (old != open) reinterpret_cast<waiter*>(old)->claim_popped().post();
    return false;
  }
  // Ends the receiver. True: the sender is gone, and the receiver must free the state.
  [[nodiscard]] bool abandon() noexcept {
    if (ended()) return true;  // the sender does not read the word any more
    // ORDER: acq_rel, pairs with the exchange in finish(): the later end sees the other's writes, and frees the state.
    const std::uintptr_t old = word_.exchange(dropped, std::memory_order_acq_rel);
    expects(old <= dropped, "a oneshot's receiver was destroyed while it waits", "let it outlive its receive()");
    return old != open;
  }
  // By the receiver, after the end of the sender.
  bool has_value() const noexcept {
    // ORDER: relaxed, pairs with nothing: ended() has synchronized with the sender.
    return word_.load(std::memory_order_relaxed) == sent;
  }
  void set_taken() noexcept {
    // ORDER: relaxed, pairs with nothing: only the receiver still reads the word.
    word_.store(broken, std::memory_order_relaxed);
  }

 private:
  const char* what() const noexcept override { return "a oneshot"; }
  bool detach(waiter& entry) noexcept override {
    auto word = reinterpret_cast<std::uintptr_t>(&entry);
    // ORDER: relaxed, pairs with nothing: an earlier finish() takes the waiter, a later one finds none.
    return word_.compare_exchange_strong(word, open, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  void pass_on(waiter&) noexcept override {}  // the value is in the slot

  typename Strength::template word<std::uintptr_t> word_{open};
};

// Results do not nest: receiving a result<U> gives result<U>.
template <class T>
struct received {
  using type = T;
};
template <class U>
struct received<result<U>> {
  using type = U;
};
template <class T>
using received_t = typename received<T>::type;

template <class T, class Strength>
class oneshot_state final : public oneshot_word<Strength> {
  static_assert(std::is_void_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "oneshot<T>: T is an object type or void");
  static_assert(fits_frame<return_slot<T>>, "oneshot<T>: an over-aligned type: send it by std::unique_ptr");
  using base = oneshot_word<Strength>;

 public:
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept { release_frame(memory, bytes); }

  template <class... U>
  bool send(U&&... value) {
    const bool has_receiver = !this->is_dropped();
    if (has_receiver) slot_.set_value(std::forward<U>(value)...);
    if (!this->finish(base::sent)) return true;
    delete this;
    return false;
  }
  void drop_sender() noexcept {
    if (this->finish(base::broken)) delete this;
  }
  void drop_receiver() noexcept {
    if (this->abandon()) delete this;
  }
  result<received_t<T>> take() {
    if (!this->has_value()) return failure(std::errc::broken_pipe);
    if constexpr (std::is_void_v<T>) {
      this->set_taken();
      return {};
    } else {
      result<received_t<T>> value(slot_.take());
      this->set_taken();
      return value;
    }
  }

 private:
  return_slot<T> slot_;  // owned by the sender before `sent`, by the receiver after
};

}  // namespace detail

// The sending end of a oneshot.
template <class T, class Strength = strength::shared>
class [[nodiscard]] oneshot_sender {
  struct no_value_type;
  using sent_type = std::conditional_t<std::is_void_v<T>, no_value_type, T>;

 public:
  using value_type = T;

  oneshot_sender() noexcept = default;
  explicit oneshot_sender(detail::oneshot_state<T, Strength>& state) noexcept : state_(&state) {}
  oneshot_sender(oneshot_sender&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  oneshot_sender& operator=(oneshot_sender&& other) noexcept {
    oneshot_sender old(std::move(other));
    std::swap(state_, old.state_);
    return *this;
  }
  ~oneshot_sender() {
    if (state_) state_->drop_sender();
  }

  // Whether the sender can still send: it was not moved from, and has not sent.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  // Whether the receiver is gone. False may be outdated at once.
  bool is_closed() const noexcept { return checked().is_dropped(); }

  // Sends the value; then the sender is empty. False: the receiver is gone, and the value is destroyed. If moving the
  // value throws, nothing was sent.
  bool send(sent_type value)
    requires(!std::is_void_v<T>)
  {
    bool received = checked().send(std::move(value));
    state_ = nullptr;
    return received;
  }
  bool send()
    requires(std::is_void_v<T>)
  {
    bool received = checked().send();
    state_ = nullptr;
    return received;
  }

 private:
  detail::oneshot_state<T, Strength>& checked() const noexcept {
    detail::expects(state_ != nullptr, "an empty oneshot_sender was used", "it was moved from, or has sent its value");
    return *state_;
  }
  detail::oneshot_state<T, Strength>* state_ = nullptr;
};

// The receiving end of a oneshot.
template <class T, class Strength = strength::shared>
class [[nodiscard]] oneshot_receiver {
  class receiving;

 public:
  using value_type = T;

  oneshot_receiver() noexcept = default;
  explicit oneshot_receiver(detail::oneshot_state<T, Strength>& state) noexcept : state_(&state) {}
  oneshot_receiver(oneshot_receiver&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  oneshot_receiver& operator=(oneshot_receiver&& other) noexcept {
    oneshot_receiver old(std::move(other));
    std::swap(state_, old.state_);
    return *this;
  }
  ~oneshot_receiver() {
    if (state_) state_->drop_receiver();
  }

  // False if the receiver was moved from or default-constructed.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  // Whether a receive() would not wait: the value has arrived, or no value will arrive.
  bool is_ready() const noexcept { return checked().ended(); }

  // Waits for the value. Gives a result<T>, or T if T is a result. broken_pipe: no value will arrive.
  [[nodiscard]] primitive::operation<receiving> receive(call_site site = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, site, checked());
  }

 private:
  detail::oneshot_state<T, Strength>& checked() const noexcept {
    detail::expects(state_ != nullptr, "an empty oneshot_receiver was used", "it was moved from");
    return *state_;
  }
  detail::oneshot_state<T, Strength>* state_ = nullptr;
};

template <class T, class Strength>
class oneshot_receiver<T, Strength>::receiving {
 public:
  using value_type = detail::received_t<T>;
  static constexpr bool keeps_result = true;
  explicit receiving(detail::oneshot_state<T, Strength>& state) noexcept : state_(&state) {}
  bool try_now() noexcept { return state_->ended(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { state_->begin(wait, entry); }
  result<value_type> take() { return state_->take(); }

 private:
  detail::oneshot_state<T, Strength>* state_;
};

// Both ends of a oneshot: `auto [tx, rx] = make_oneshot<T>();`
template <class T, class Strength = strength::shared>
struct oneshot {
  oneshot_sender<T, Strength> sender;
  oneshot_receiver<T, Strength> receiver;
};

// Makes a oneshot. Throws bad_alloc.
template <class T = void>
[[nodiscard]] oneshot<T> make_oneshot() {
  auto& state = *new detail::oneshot_state<T, strength::shared>;
  return {oneshot_sender<T>(state), oneshot_receiver<T>(state)};
}

// For two coroutines of one thread; see core/wait/seam/strength.hpp.
namespace unsync {
template <class T = void>
[[nodiscard]] oneshot<T, strength::unsync> make_oneshot() {
  auto& state = *new detail::oneshot_state<T, strength::unsync>;
  return {oneshot_sender<T, strength::unsync>(state), oneshot_receiver<T, strength::unsync>(state)};
}
}  // namespace unsync

}}  // namespace hocket
