// oneshot: one value, from one sender to one receiver.
//
//   auto [tx, rx] = make_oneshot<int>();
//   tx.send(7);                                // any thread; never waits. False: nobody will receive it
//   auto seven = co_await rx.receive();        // result<int>; a fiber and a thread say await(rx.receive())
//
// Guarantees. The value is never lost on the way: a receive() that was cancelled or timed out, or lost a select, leaves
// it, and the next receive() gives it. A sender that ends without sending, or a receive() after the value was taken,
// makes the receive fail with std::errc::broken_pipe. send() neither suspends nor runs foreign code. What was done
// before send() is visible after receive(). The two ends may be moved to different threads; each is used by one thread
// at a time, and neither outlives a wait of its own. T is an object type (move-only included) or void.
//
// The ends share one state, from the memory of frames. Its word says who is told, and who frees it:
//
//   word      meaning                        changes
//   open      nothing has happened           -> waiting   receive()
//                                            -> sent, broken   send(), the end of the sender
//                                            -> dropped   the end of the receiver
//   waiting   the address of a waiter        -> open   the wait has ended otherwise
//                                            -> sent, broken   and the waiter is granted
//   sent      the value is in the slot       -> broken   it was taken
//   broken    nothing more will come         final for the receiver
//   dropped   nobody will receive            final for the sender
//
// The sender writes the slot before `sent` and does not touch the state afterwards; the receiver owns it from then on.
// So of the two ends the one that finds the other gone frees the state. A sender that has found a waiter may grant it:
// that wait cannot end, nor its receiver be destroyed, before the sender has let it go.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/return_slot.hpp>
#include <hocket/core/detail/strength.hpp>
#include <hocket/core/frame_memory.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The state without the value.
template <class Strength>
class oneshot_word : public wait_source {
 public:
  bool ended() const noexcept {
    // ORDER: acquire, pairs with the exchange in finish().
    const std::uintptr_t seen = word_.load(std::memory_order_acquire);
    return seen == sent || seen == broken;
  }
  // ORDER: relaxed, pairs with nothing: who acts on it meets the word again, in finish().
  bool unwanted() const noexcept { return word_.load(std::memory_order_relaxed) == dropped; }

  void begin(suspension& wait, waiter& entry) noexcept {
    if (ended()) {
      [[maybe_unused]] bool taken = wait.take_now(entry, *this);
      return;
    }
    entry.enlist(wait, *this);
    std::uintptr_t seen = open;
    // ORDER: release, pairs with the exchange in finish(): it finds the waiter whole; acquire on failure, pairs with
    // the same: this side finds the value.
    if (word_.compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(&entry), std::memory_order_release,
                                      std::memory_order_acquire))
      return;
    expects(seen == sent || seen == broken, "a oneshot is received by two at once", "receive it in one place");
    entry.claim_popped().post();
  }

 protected:
  static constexpr std::uintptr_t open = 0, sent = 1, broken = 2, dropped = 3;  // else the address of a waiter
  static_assert(alignof(waiter) > dropped);

  oneshot_word() noexcept = default;
  ~oneshot_word() = default;

  // Of the sender, at its end. True: the receiver is gone, so the state is the sender's to free.
  [[nodiscard]] bool finish(std::uintptr_t how) noexcept {
    // ORDER: acq_rel, pairs with ended() and with the compare-exchange in begin(): the value is visible; and the waiter
    // that is found is.
    const std::uintptr_t who = word_.exchange(how, std::memory_order_acq_rel);
    if (who == dropped) return true;
    if (who != open) reinterpret_cast<waiter*>(who)->claim_popped().post();
    return false;
  }
  // Of the receiver, at its end. True: the sender is gone, so the state is the receiver's to free.
  [[nodiscard]] bool abandon() noexcept {
    if (ended()) return true;  // nobody else looks at the word any more
    // ORDER: acq_rel, pairs with the exchange in finish(): whoever comes second frees what the other has left.
    const std::uintptr_t who = word_.exchange(dropped, std::memory_order_acq_rel);
    expects(who <= dropped, "a oneshot's receiver was destroyed while it waits", "let it outlive its receive()");
    return who != open;
  }
  // Of the receiver, after the end of the sender.
  bool has_value() const noexcept {
    // ORDER: relaxed, pairs with nothing: the receiver has seen the end already.
    return word_.load(std::memory_order_relaxed) == sent;
  }
  void taken() noexcept {
    // ORDER: relaxed, pairs with nothing: the receiver is the only one who still looks.
    word_.store(broken, std::memory_order_relaxed);
  }

 private:
  const char* what() const noexcept override { return "a oneshot"; }
  bool detach(waiter& entry) noexcept override {
    auto seen = reinterpret_cast<std::uintptr_t>(&entry);
    // ORDER: relaxed, pairs with nothing: finish() takes the waiter if it comes first, and finds none if not.
    return word_.compare_exchange_strong(seen, open, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  void pass_on(waiter&) noexcept override {}  // the value is in the slot

  typename Strength::template word<std::uintptr_t> word_{open};
};

// Nothing nests: receiving a result<U> gives result<U>.
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
    const bool wanted = !this->unwanted();
    if (wanted) slot_.set_value(std::forward<U>(value)...);
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
      this->taken();
      return {};
    } else {
      result<received_t<T>> value(slot_.take());
      this->taken();
      return value;
    }
  }

 private:
  return_slot<T> slot_;  // the sender's before `sent`, the receiver's after
};

}  // namespace detail

// The end that gives the value.
template <class T, class Strength = strength::shared>
class [[nodiscard]] oneshot_sender {
  struct nothing;
  using sent = std::conditional_t<std::is_void_v<T>, nothing, T>;

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

  // Whether it can still send: not moved from, nothing sent yet.
  explicit operator bool() const noexcept { return state_ != nullptr; }

  // Whether the receiver is gone. False may be outdated at once.
  bool is_closed() const noexcept { return checked().unwanted(); }

  // Gives the value; the sender is empty then. False: the receiver is gone, the value is destroyed. If moving the value
  // throws, nothing was sent.
  bool send(sent value)
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

// The end that gets the value.
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

  explicit operator bool() const noexcept { return state_ != nullptr; }

  // Whether a receive() would not wait: the value is there, or none will come.
  bool is_ready() const noexcept { return checked().ended(); }

  // Waits for the value: result<T>, also if T is a result itself. broken_pipe: none will come.
  [[nodiscard]] primitive::operation<receiving> receive(call_site at = this_call_site()) noexcept {
    return primitive::operation<receiving>(std::in_place, at, checked());
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

// Both ends. `auto [tx, rx] = make_oneshot<T>();`
template <class T, class Strength = strength::shared>
struct oneshot {
  oneshot_sender<T, Strength> sender;
  oneshot_receiver<T, Strength> receiver;
};

// Throws bad_alloc.
template <class T = void>
[[nodiscard]] oneshot<T> make_oneshot() {
  auto& state = *new detail::oneshot_state<T, strength::shared>;
  return {oneshot_sender<T>(state), oneshot_receiver<T>(state)};
}

// For two coroutines of one thread; see core/detail/strength.hpp.
namespace unsync {
template <class T = void>
[[nodiscard]] oneshot<T, strength::unsync> make_oneshot() {
  auto& state = *new detail::oneshot_state<T, strength::unsync>;
  return {oneshot_sender<T, strength::unsync>(state), oneshot_receiver<T, strength::unsync>(state)};
}
}  // namespace unsync

}}  // namespace hocket
