// The part of a channel between one sender and one receiver that does not depend on the type of its items: the counts
// of sent and received items, the waiters, and the end.
//
// The fast path
//   The items are in a ring. `sent_` counts the items that entered it, and only the sender writes it. `received_`
//   counts the items that left, and only the receiver writes it. Each end remembers the last value that it read of the
//   other count, and reads again only if that does not suffice. So the cache line of a count moves between cores once
//   in a while, not for each item. (Lamport, "Specifying concurrent program modules", 1983; the remembered counts: Lee
//   and others, "A lock-free, cache-efficient shared ring buffer for multi-core architectures", 2009.)
//
// The flags
//
//   bit   meaning              set                cleared by the party that unlinks the waiter
//   1     the receiver waits   begin_receive()    a send, close(), detach()
//   2     the sender waits     begin_send()       a receive, close(), detach()
//   4     closed               close()            never
//
//   They change under the mutex only, together with the state that they describe. Any thread reads them.
//
// Sleeping
//   An end that finds nothing to do sets its flag, and then reads the other count once more. The other end writes its
//   count, and then reads the flags. All four accesses are sequentially consistent, so at least one end sees the write
//   of the other (Dekker): no end sleeps with something to do. This is the only fence of the fast path. If both ends
//   see it, the wait is granted at once, or does not begin. A flag may belong to a later wait, for more than this item
//   or place. So the end that reads a flag compares the counts under the mutex, where the count of a waiting end does
//   not change.
//
// A grant means: read again
//   No item passes through the memory of a wait. A granted receiver takes its item out of the ring when it runs, a
//   granted sender puts it in. No other receiver or sender can overtake it. So a wait that a stop has ended, or a
//   coroutine that was destroyed after its grant, has nothing to return.
//
// The end
//   If a sender adds an item while another thread closes the channel, the sender reads `closed` after that, or the
//   receiver finds the item before it gives up (Dekker again). The receiver records under the mutex that it has found
//   the channel closed and empty (`ended_`), and does not read the ring after that. A sender that reads `closed` after
//   its item checks `ended_` under the mutex, and takes the item out again if it is set. So a send succeeds exactly if
//   the receiver can receive the item.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/base/seam/cache_line.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Detects two coroutines at one end at the same time, at check level `debug`. Not under the model checker, whose tests
// it would lengthen.
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
        // ORDER: relaxed, pairs with nothing: it must not order the accesses that it checks.
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

  // Any thread. False: the channel was closed before.
  bool close(std::error_code error) noexcept;

 protected:
  explicit spsc_core(std::size_t places) noexcept : places_(places) {}
  ~spsc_core() {
    debug_expects(!sender_ && !receiver_, "a channel was destroyed while it has a waiter",
                  "close() it, and let it outlive its users");
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
  // Publishes `n` new items of the ring. False: the receiver has ended without them; the caller takes them out again.
  [[nodiscard]] bool publish(std::size_t n) noexcept {
    // ORDER: relaxed, pairs with nothing: the sender's own.
    const std::size_t sent = sent_.load(std::memory_order_relaxed) + n;
    // ORDER: seq_cst, forbids that the load behind it moves up before it: it would miss the flag of a receiver in
    // begin_receive(), and the end. Released to the load in items().
    sent_.store(sent, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids the same.
    return flags_.load(std::memory_order_seq_cst) == 0 || publish_slowly(n);
  }
  // True: the waiter is linked.
  bool begin_send(suspension& wait, waiter& entry) noexcept;

  // --- the receiver

  // The number of items. The receiver reloads the sender's count if it knows of fewer than `min_items`.
  std::size_t items(std::size_t min_items) noexcept {
    // ORDER: relaxed, pairs with nothing: the receiver's own.
    const std::size_t received = received_.load(std::memory_order_relaxed);
    if (seen_sent_ - received < min_items && !ended_) {
      // ORDER: acquire, pairs with the store in publish(): the items are complete.
      seen_sent_ = sent_.load(std::memory_order_acquire);
    }
    return seen_sent_ - received;
  }
  // The same. 0: the end, or a second receiver.
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
  // Releases the places of `n` items that left the ring.
  void freed(std::size_t n) noexcept {
    // ORDER: relaxed, pairs with nothing: the receiver's own.
    const std::size_t received = received_.load(std::memory_order_relaxed) + n;
    // ORDER: seq_cst, forbids that the load behind it moves up before it: it would miss the flag of a sender in
    // begin_send(). Released to the load in free_places().
    received_.store(received, std::memory_order_seq_cst);
    // ORDER: seq_cst, forbids the same.
    if (flags_.load(std::memory_order_seq_cst) & sender_waits) [[unlikely]]
      wake_sender();
  }
  // True: the waiter is linked.
  bool begin_receive(suspension& wait, waiter& entry) noexcept;

  // --- any thread

  bool is_closed() const noexcept {
    // ORDER: acquire, pairs with the store in set_flags() by close(): close_error() is readable.
    return flags_.load(std::memory_order_acquire) & closed;
  }
  // After is_closed().
  std::error_code close_error() const noexcept { return close_error_; }
  std::size_t size() const noexcept {
    // ORDER: acquire, pairs with the store in freed(): the sender's count is no older one.
    const std::size_t received = received_.load(std::memory_order_acquire);
    // ORDER: relaxed, pairs with nothing: no more than a hint.
    const std::size_t n = sent_.load(std::memory_order_relaxed) - received;
    return n < places_ ? n : places_;
  }
  // For a destructor: the number of items in the channel.
  std::size_t last_size() const noexcept { return Strength::last(sent_) - Strength::last(received_); }

  // --- for the ring

  std::size_t& place_in() noexcept { return place_in_; }    // the sender's: the place of the next item
  std::size_t& place_out() noexcept { return place_out_; }  // the receiver's: the place of the first item

  static constexpr const char* two_senders = "two coroutines sent through a spsc_channel at the same time";
  static constexpr const char* two_receivers = "two coroutines received from a spsc_channel at the same time";
  lone_user<Strength> sending_, receiving_;

 private:
  enum flag : std::uint32_t { receiver_waits = 1, sender_waits = 2, closed = 4 };

  const char* what() const noexcept override { return "a channel"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  // Fatal if another coroutine waits at this end.
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
  // Gaps separate the parts: a type aligned to cache lines does not fit a coroutine's frame, which compilers align
  // less.
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
  // Guarded by mutex_; any thread may read the flags:
  typename Strength::template word<std::uint32_t> flags_{0};
  typename Strength::mutex mutex_;
  waiter* sender_ = nullptr;
  waiter* receiver_ = nullptr;
  std::error_code close_error_;  // constant when it is closed
};

extern template class spsc_core<strength::shared>;
extern template class spsc_core<strength::unsync>;

}}}  // namespace hocket::detail
