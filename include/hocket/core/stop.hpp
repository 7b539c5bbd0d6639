// Stop sources: one request, many waits that it ends.
//
// A stop has two levels. A *cancel* asks: waits end with operation_canceled, and shielded code may ignore it. A *kill*
// tells: waits end by unwinding, unless they report it. A kill may follow a cancel, never the reverse.
//
// A node stands for one wait. It is attached *open*, or *shielded*: then only a kill fires it.
// States of a node: out -> attached -> (detached by its owner -> out) | (popped by a request -> fired -> out).
// A request pops one node at a time and fires it without a lock; a node whose detach() returned false has been popped,
// and its memory is free only when its fire() has let go (in a wait: by dropping its hold, claim.hpp).
//
// Where nodes stand. Most sources have at most one node: one coroutine, which waits for one thing. So one node may
// stand in a *slot* in the word that also tells what was requested, and comes and goes by one compare-exchange:
//
//   bits 0..1  what was requested: 0 nothing, 1 a cancel, 2 a kill; 3: see late_stop_source (stop_link.hpp)
//   bit  2     the node in the slot is shielded
//   bits 3..   its address; 0: the slot is free
//
// The others, and links to other sources (stop_link.hpp), stand in two lists under the mutex.
//
//   attach(): the slot is free, and nothing was requested that the node heeds -> compare-exchange it in;
//             else, under the mutex, look again what was requested, and push to a list.
//   request(): 1. under the mutex, raise what was requested; 2. take the node out of the slot, by compare-exchange, and
//             fire it; 3. pop and fire those in the lists.
//
// Hazards. *A node attached beside a request is forgotten*: in the slot, because the request changes the very word
// that the node's compare-exchange expects unchanged; in a list, because both happen under the mutex. *A node is read
// while its owner takes it back*: a request knows from the word whether the node is shielded, and reads it only after
// the exchange that made it its own. *The slot is emptied and filled with the same node between a look and the
// exchange*: then it stands there again, and what is done to it is right.
#pragma once
#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/detail/short_list.hpp>
#include <hocket/core/detail/claim.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// What is requested of a coroutine, the weaker first.
enum class stop_level : std::uint8_t { none, cancel, kill };

namespace detail {

// The weakest stop that fires a node. A node that heeds a kill alone is *shielded*.
enum class heeds : std::uint8_t { cancel, kill };
constexpr stop_level ignored_by(heeds weakest) noexcept { return static_cast<stop_level>(weakest); }

// How a stop ends a wait.
constexpr wait_end end_of(stop_level level) noexcept {
  return level == stop_level::kill ? wait_end::killed : wait_end::cancelled;
}

class late_stop_source;
class stop_link;

// Aligned for the marks in the low bits of its address, on every architecture.
struct alignas(8) stop_node : list_node {
  void (*fire)(stop_node& self, stop_level level) noexcept = nullptr;  // null: the node is a stop_link
};

}  // namespace detail

// One request, many waits that it ends; see above. It outlives the waits and links that are attached to it.
class stop_source {
 public:
  stop_source() noexcept = default;
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;
  ~stop_source() {
    // ORDER: relaxed, pairs with nothing: nobody else may use the source any more.
    const bool alone = !node_of(word_.load(std::memory_order_relaxed)) && open_.empty() && shielded_.empty();
    detail::expects(alone, "a stop_source was destroyed while coroutines wait under it",
                    "join the coroutines first (a scope does), or let the source outlive them");
  }

  // Any thread. Fires every attached node that is not shielded from it, here and in all sources that are linked below,
  // on the caller's thread. False if as much was requested before.
  bool request(stop_level level = stop_level::cancel) noexcept { return request(level, false); }

  // Any thread. Cancels like request(), because a deadline has passed that a task manager keeps: the waits that this
  // ends give timed_out. The first cancellation decides.
  bool request_time_out() noexcept { return request(stop_level::cancel, true); }
  // Any thread. True: request_time_out() has cancelled this source, or a source above it.
  bool timed_out() const noexcept {
    // ORDER: relaxed, pairs with the store in note_reason(): requested() acquires the request that publishes it.
    return requested() != stop_level::none && by_deadline_.load(std::memory_order_relaxed);
  }

  // Any thread. stop_level::none while nothing is requested.
  stop_level requested() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    const word seen = word_.load(std::memory_order_acquire);
    if (is_apart(seen)) [[unlikely]]
      return requested_above();
    return level_of(seen);
  }
  bool killed() const noexcept { return may_be_killed() && requested() == stop_level::kill; }
  // The same without a call: false, it is not; true, killed() is to be asked.
  bool may_be_killed() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    return (word_.load(std::memory_order_acquire) & kill_bit) != 0;
  }
  // The same for any request: false, there is none; true, requested() is to be asked.
  bool may_be_requested() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    return (word_.load(std::memory_order_acquire) & level_bits) != 0;
  }

  // Any thread. Attaches, unless what the node heeds was requested already: then returns that, and the node stays out.
  // stop_level::none: attached.
  [[nodiscard]] stop_level attach(detail::stop_node& node, detail::heeds weakest = detail::heeds::cancel) noexcept {
    const word entry = reinterpret_cast<word>(&node) | (weakest == detail::heeds::cancel ? 0 : shielded);
    // ORDER: acquire, pairs with the fetch_add in raise(): who is refused sees what led to the request.
    word seen = word_.load(std::memory_order_acquire);
    while (!node_of(seen)) {
      if (level_of(seen) > detail::ignored_by(weakest))
        return is_apart(seen) ? attach_below(node, weakest) : level_of(seen);
      // ORDER: release, pairs with the exchange in pop_slot(): who pops the node sees what its owner wrote to it; and
      // acquire on failure, pairs with the fetch_add in raise(), as above.
      if (word_.compare_exchange_weak(seen, seen | entry, std::memory_order_release, std::memory_order_acquire))
        return stop_level::none;
    }
    return attach_to_list(node, weakest);
  }

  // Any thread. True: the node is out and will not fire. False: it was popped, or taken back by another.
  [[nodiscard]] bool detach(detail::stop_node& node) noexcept {
    return detach_from_slot(node) || detach_from_list(node);
  }

  // detach() for the slot alone, inline. False: the node was popped, or is linked in a list: detach() tells which.
  [[nodiscard]] bool detach_from_slot(detail::stop_node& node) noexcept {
    // ORDER: relaxed, pairs with nothing: who may detach the node knows that it is attached, so what is read is not
    // older.
    word seen = word_.load(std::memory_order_relaxed);
    while (node_of(seen) == &node) {
      // ORDER: relaxed, pairs with nothing: the node is not looked at by others before they pop it, and now nobody
      // will.
      if (word_.compare_exchange_weak(seen, seen & level_bits, std::memory_order_relaxed, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

 private:
  friend class detail::stop_link;
  friend class detail::late_stop_source;
  using word = std::uintptr_t;
  static constexpr word level_bits = 3, cancel_bit = 1, kill_bit = 2, shielded = 4, node_bits = ~word{7};
  static constexpr word apart = cancel_bit | kill_bit, apart_cancelled = apart | shielded;  // see late_stop_source
  static bool is_apart(word seen) noexcept { return (seen & level_bits) == apart; }
  explicit stop_source(word initial) noexcept : word_(initial) {}
  static word bits_of(stop_level level) noexcept { return static_cast<word>(level); }
  static stop_level level_of(word seen) noexcept { return static_cast<stop_level>(seen & level_bits); }
  static detail::stop_node* node_of(word seen) noexcept {
    return reinterpret_cast<detail::stop_node*>(seen & node_bits);
  }

  stop_level attach_to_list(detail::stop_node& node, detail::heeds weakest) noexcept;
  bool detach_from_list(detail::stop_node& node) noexcept;
  void unlink(detail::stop_node& node) noexcept { (shielded_.begins_with(node) ? shielded_ : open_).erase(node); }
  [[HOCKET_NOINLINE]] stop_level attach_below(detail::stop_node& node, detail::heeds weakest) noexcept;
  [[HOCKET_NOINLINE]] stop_level requested_above() const noexcept;
  bool request(stop_level level, bool by_deadline) noexcept;
  bool raise_apart(word seen, stop_level level, bool by_deadline) noexcept;
  bool raise(stop_level level, bool by_deadline) noexcept;
  // Under the mutex, before the first request is published.
  void note_reason(bool by_deadline) noexcept {
    // ORDER: relaxed, pairs with the load in timed_out(): the store of the request publishes it.
    by_deadline_.store(by_deadline, std::memory_order_relaxed);
  }
  detail::stop_node* pop(stop_level level) noexcept;
  detail::stop_node* pop_slot(stop_level level) noexcept;

  primitive::atomic<word> word_{0};
  detail::short_list<detail::stop_node> open_;      // guarded by mutex_
  detail::short_list<detail::stop_node> shielded_;  // guarded by mutex_
  primitive::thread_mutex mutex_;
  primitive::atomic<bool> by_deadline_{false};  // the reason of the cancellation
};

}}  // namespace hocket
