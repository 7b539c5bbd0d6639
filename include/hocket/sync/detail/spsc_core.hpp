// What of a channel between one sender and one receiver does not depend on the type of its items: how many went in and
// out, who waits, and the end.
//
// The fast path. The items are in a ring. `sent_` says how many were put into it, and is written by the sender only;
// `received_` how many were taken out, by the receiver only. Each end remembers what it saw of the other's count, and
// looks again only when that does not suffice, so that the line of the count goes from core to core once in a while and
// not for each item. (Lamport, "Specifying concurrent program modules", 1983; the remembered counts: Lee and others, "A
// lock-free, cache-efficient shared ring buffer for multi-core architectures", 2009.)
//
// The notes: what each end must know of the other, beside its count.
//
//   bit   meaning              set                cleared
//   1     the receiver waits   begin_receive()    by who takes it out: a send, close(), detach()
//   2     the sender waits     begin_send()       by who takes it out: a receive, close(), detach()
//   4     closed               close()            never
//
// They change under the mutex only, together with what they tell of, and are read by anybody.
//
// Sleeping. An end that finds nothing sets its note, and then looks at the other's count once more; the other end
// writes its count, and then looks at the notes. All four are sequentially consistent, so at least one of the two sees
// what the other wrote (Dekker): no end sleeps with something to do. That is the only fence of the fast path. Where
// both see it, the wait is granted at once, or does not begin. A note that is seen may be a later one, of a wait for
// more than this item or place: so whoever sees it compares the counts under the mutex, where those of one who waits
// stand still.
//
// Being granted means to look again. Nothing goes through the memory of a wait: a granted receiver takes its item out
// of the ring when it runs, a granted sender puts it in. There is no other receiver, or sender, that could come first.
// So a wait that is ended by others, or a coroutine that is destroyed after its grant, has nothing to give back.
//
// The end. A sender that puts an item in while another thread closes the channel sees `closed` after that, or the
// receiver sees the item before it gives up (Dekker again). The receiver notes under the mutex that it has found the
// channel closed and empty (`ended_`); from then on it does not look. A sender that sees `closed` behind its item looks
// under the mutex whether the receiver had ended without it, and takes the item out again. So an item was sent exactly
// if the receiver comes by it.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/base/seam/cache_line.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Finds two coroutines in one place at the same time, at check level `debug`. To the model checker it would only be one
// more word.
template <class Strength>
class lone_user {
  static constexpr bool checks = debug_checks && !under_model;
  struct nothing {
    explicit nothing(bool) noexcept {}
  };

 public:
  class visit {
   public:
    explicit visit([[maybe_unused]] lone_user& user, [[maybe_unused]] const char* message) noexcept : user_(user) {
      if constexpr (checks) {
        // ORDER: relaxed, pairs with nothing: it must not order what it is to find.
        const bool taken = user_.busy_.exchange(true, std::memory_order_relaxed);
        debug_expects(!taken, message, "a spsc_channel has one of each at a time: say channel<T>");
      }
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
      // ORDER: relaxed, pairs with nothing: as above.
      if constexpr (checks) user_.busy_.store(false, std::memory_order_relaxed);
    }

   private:
    [[maybe_unused]] lone_user& user_;
  };

 private:
  [[no_unique_address]] std::conditional_t<checks, typename Strength::template word<bool>, nothing> busy_{false};
};

template <class Strength>
class spsc_core : public wait_source {
 public:
  spsc_core(const spsc_core&) = delete;
  spsc_core& operator=(const spsc_core&) = delete;

  // Any thread. False: it was closed before.
  bool close(std::error_code error) noexcept;

 protected:
  explicit spsc_core(std::size_t places) noexcept : places_(places) {}
  ~spsc_core() {
    debug_expects(!sender_ && !receiver_, "a channel was destroyed while somebody waits at it",
                  "close() it, and let it outlive all who use it");
  }

  // --- the sender

  // The number of free places. The sender reloads the receiver's count if it knows of fewer than `min_places`.
  std::size_t free_places(std::size_t min_places) noexcept {
    // ORDER: relaxed, pairs with nothing: the sender's own.
    const std::size_t sent = sent_.load(std::memory_order_relaxed);
    if (places_ - (sent - seen_received_) < min_places) {
      // ORDER: acquire, pairs with the store in freed(): the receiver has left the places.
      seen_received_ = received_.load(std::memory_order_acquire);
    }
    return places_ - (sent - seen_received_);
  }
  bool can_send() noexcept {
    expect_alone(sender_waits, two_senders);
    return is_closed() || free_places(1) != 0;
  }
  // `n` items are in the ring. False: the receiver has ended without them, they are to be taken out again.
  [[nodiscard]] bool publish(std::size_t n) noexcept {
    // ORDER: relaxed, pairs with nothing: the sender's own.
    const std::size_t sent = sent_.load(std::memory_order_relaxed) + n;
    // ORDER: seq_cst, forbids that the load behind it moves up before it: the receiver would be missed that notes in
    // begin_receive() that it waits, and the end. Released to the load in items().
    sent_.store(sent, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids the same.
    return flags_.load(std::memory_order_seq_cst) == 0 || publish_slowly(n);
  }
  // True: it waits.
  bool begin_send(suspension& wait, waiter& entry) noexcept;

  // --- the receiver

  // How many items there are; the receiver looks again if it knows of fewer than it wants.
  std::size_t items(std::size_t min_items) noexcept {
    // ORDER: relaxed, pairs with nothing: the receiver's own.
    const std::size_t received = received_.load(std::memory_order_relaxed);
    if (seen_sent_ - received < min_items && !ended_) {
      // ORDER: acquire, pairs with the store in publish(): the items are whole.
      seen_sent_ = sent_.load(std::memory_order_acquire);
    }
    return seen_sent_ - received;
  }
  // The same; 0 only at the end, or if nobody has granted it.
  std::size_t items_or_end(std::size_t min_items) noexcept {
    if (const std::size_t n = items(min_items)) [[likely]]
      return n;
    record_end();
    return items(min_items);
  }
  bool can_receive() noexcept {
    expect_alone(receiver_waits, two_receivers);
    return items(1) != 0 || is_closed();
  }
  // `n` items were taken out of the ring.
  void freed(std::size_t n) noexcept {
    // ORDER: relaxed, pairs with nothing: the receiver's own.
    const std::size_t received = received_.load(std::memory_order_relaxed) + n;
    // ORDER: seq_cst, forbids that the load behind it moves up before it: the sender would be missed that notes in
    // begin_send() that it waits. Released to the load in free_places().
    received_.store(received, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids the same.
    if (flags_.load(std::memory_order_seq_cst) & sender_waits) [[unlikely]]
      wake_sender();
  }
  // True: it waits.
  bool begin_receive(suspension& wait, waiter& entry) noexcept;

  // --- anybody

  bool is_closed() const noexcept {
    // ORDER: acquire, pairs with the store in announce() by close(): why() can be read.
    return flags_.load(std::memory_order_acquire) & closed;
  }
  // Of a channel that was found closed.
  std::error_code close_error() const noexcept { return close_error_; }
  std::size_t size() const noexcept {
    // ORDER: acquire, pairs with the store in freed(): the other count is not an older one.
    const std::size_t received = received_.load(std::memory_order_acquire);
    // ORDER: relaxed, pairs with nothing: no more than a hint.
    const std::size_t n = sent_.load(std::memory_order_relaxed) - received;
    return n < places_ ? n : places_;
  }
  // For a destructor: the number of items in the channel.
  std::size_t last_size() const noexcept { return Strength::last(sent_) - Strength::last(received_); }

  // --- for the ring

  std::size_t& place_in() noexcept { return place_in_; }    // the sender's: where the next item goes
  std::size_t& place_out() noexcept { return place_out_; }  // the receiver's: where the first one is

  static constexpr const char* two_senders = "two coroutines sent through a spsc_channel at the same time";
  static constexpr const char* two_receivers = "two coroutines received from a spsc_channel at the same time";
  lone_user<Strength> sending_, receiving_;

 private:
  enum flag : std::uint32_t { receiver_waits = 1, sender_waits = 2, closed = 4 };

  const char* what() const noexcept override { return "a channel"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  // While the end waits, another one has come.
  void expect_alone([[maybe_unused]] flag bit, [[maybe_unused]] const char* message) const noexcept {
    if constexpr (debug_checks && !under_model) {
      // ORDER: relaxed, pairs with nothing: a check; the caller is ordered after its own last wait.
      debug_expects(!(flags_.load(std::memory_order_relaxed) & bit), message,
                    "a spsc_channel has one of each at a time: say channel<T>");
    }
  }
  [[HOCKET_NOINLINE]] bool publish_slowly(std::size_t n) noexcept;
  [[HOCKET_NOINLINE]] void wake_sender() noexcept;
  [[HOCKET_NOINLINE]] void record_end() noexcept;

  // Under the mutex:
  void set_flags(std::uint32_t flags) noexcept;
  void clear_flags(flag bits) noexcept;
  bool enlist(suspension& wait, waiter& entry, waiter*& end) noexcept;
  grant claim(waiter*& end, flag bits) noexcept;
  void take_out(waiter*& end, flag bits) noexcept;

  const std::size_t places_;
  // The parts are kept apart by gaps: a type that is aligned to cache lines does not belong into a coroutine's frame,
  // which compilers align less.
  std::byte gap_before_sender_[cache_line_size];
  // The sender's:
  typename Strength::template word<std::size_t> sent_{0};
  std::size_t seen_received_ = 0;
  std::size_t place_in_ = 0;
  std::byte gap_before_receiver_[cache_line_size];
  // The receiver's:
  typename Strength::template word<std::size_t> received_{0};
  std::size_t seen_sent_ = 0;
  std::size_t place_out_ = 0;
  bool ended_ = false;  // written by the receiver under mutex_
  std::byte gap_before_flags_[cache_line_size];
  // Guarded by mutex_, the notes for writing:
  typename Strength::template word<std::uint32_t> flags_{0};
  typename Strength::mutex mutex_;
  waiter* sender_ = nullptr;
  waiter* receiver_ = nullptr;
  std::error_code close_error_;  // constant when it is closed
};

extern template class spsc_core<strength::shared>;
extern template class spsc_core<strength::unsync>;

}}}  // namespace hocket::detail
