// Stop sources: a request that ends many waits.
//
// Levels. A *cancel* asks: waits end with operation_canceled, and shielded code may ignore it. A *kill* forces: waits
// end by unwinding, unless they report the kill. A kill may follow a cancel, never the reverse.
//
// Nodes. A node represents one wait. It is attached *open* or *shielded*. Only a kill fires a shielded node.
// States of a node: out -> attached -> (detached by its owner -> out) | (popped by a request -> fired -> out).
// A request pops one node at a time and fires it without a lock. If detach() returned false, the node has been popped,
// and its memory is free only after its fire() has released it (in a wait: by dropping its hold, claim.hpp).
//
// Storage of nodes. Most sources have at most one node: one coroutine, which waits for one thing. So one node may
// occupy a *slot*. The slot shares a word with the request, and one compare-exchange fills or empties it:
//
//   bits 0..1  the request: 0 none, 1 a cancel, 2 a kill; 3: see late_stop_source (stop_link.hpp)
//   bit  2     the node in the slot is shielded
//   bits 3..   the node's address; 0: the slot is free
//
// Two lists under the mutex hold all other nodes, and links to other sources (stop_link.hpp).
//
//   attach(): if the slot is free, and there is no request that the node heeds, puts the node in by compare-exchange;
//             else, under the mutex, checks the request again and pushes the node to a list.
//   request(): 1. under the mutex, raises the request; 2. takes the node out of the slot, by compare-exchange,
//             and fires it; 3. pops and fires the nodes in the lists.
//
// Hazards.
//   - If a node is attached during a request, then the request may miss it. Prevented in the slot by the word: the
//     request changes the word that the node's compare-exchange expects unchanged. Prevented in a list by the mutex.
//   - If a request reads a node while its owner detaches it, then it reads freed memory. Prevented by the word, which
//     says whether the node is shielded: the request reads the node only after the exchange that took it.
//   - If the slot is emptied and filled with the same node between a load and its exchange, then the exchange succeeds.
//     That is right, because the node is attached again.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/short_list.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// The level of a stop request, the weaker first.
enum class stop_level : std::uint8_t { none, cancel, kill };

namespace detail {

class daemon_group;

// The weakest stop that fires a node. A node that heeds a kill alone is *shielded*.
enum class min_stop_level : std::uint8_t { cancel, kill };
constexpr stop_level strongest_ignored(min_stop_level weakest) noexcept { return static_cast<stop_level>(weakest); }

class late_stop_source;
class stop_link;

// Aligned so that the low bits of its address are free for marks, on every architecture.
struct alignas(8) stop_node : list_node {
  void (*fire)(stop_node& self, stop_level level) noexcept = nullptr;  // null: the node is a stop_link
};

}  // namespace detail

// A source of stop requests; see above. It outlives the waits and links that are attached to it.
class stop_source {
 public:
  stop_source() noexcept = default;
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;
  ~stop_source() {
    // ORDER: relaxed, pairs with nothing: no other thread may use the source any more.
    const bool alone = !node_of(word_.load(std::memory_order_relaxed)) && open_.empty() && shielded_.empty();
    detail::expects(alone, "a stop_source was destroyed while coroutines wait under it",
                    "join the coroutines first (a scope does), or let the source outlive them");
  }

  // Requests a stop. Fires every attached node that is not shielded from it, here and in all sources that are linked
  // below, on the caller's thread. Returns false if this level was requested before. Any thread.
  bool request(stop_level level = stop_level::cancel) noexcept { return request(level, false); }

  // Cancels like request(), for a deadline that a task manager keeps: the waits that this call ends return timed_out.
  // The first cancellation decides. Any thread.
  bool request_time_out() noexcept { return request(stop_level::cancel, true); }
  // Whether request_time_out() has cancelled this source, or a source above it. Any thread.
  bool timed_out() const noexcept {
    // ORDER: relaxed, pairs with the store in record_reason(): requested() acquires the request that publishes it.
    return requested() != stop_level::none && by_deadline_.load(std::memory_order_relaxed);
  }

  // The requested level; stop_level::none if there is no request. Any thread.
  stop_level requested() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    const word current = word_.load(std::memory_order_acquire);
    if (is_apart(current)) [[unlikely]]
      return requested_above();
    return level_of(current);
  }
  bool killed() const noexcept { return may_be_killed() && requested() == stop_level::kill; }
  // A hint for killed() without a call. False: not killed. True: call killed() to know.
  bool may_be_killed() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    return (word_.load(std::memory_order_acquire) & kill_bit) != 0;
  }
  // A hint for requested() without a call. False: no request. True: call requested() to know.
  bool may_be_requested() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    return (word_.load(std::memory_order_acquire) & level_bits) != 0;
  }

  // Attaches a node and returns stop_level::none. If the node heeds a level that is already requested, returns that
  // level and does not attach the node. Any thread.
  [[nodiscard]] stop_level attach(detail::stop_node& node,
                                  detail::min_stop_level weakest = detail::min_stop_level::cancel) noexcept {
    const word entry = reinterpret_cast<word>(&node) | (weakest == detail::min_stop_level::cancel ? 0 : shielded);
    // ORDER: acquire, pairs with the fetch_add in raise(): a refused caller sees the cause of the request.
    word current = word_.load(std::memory_order_acquire);
    while (!node_of(current)) {
      if (level_of(current) > detail::strongest_ignored(weakest))
        return is_apart(current) ? attach_below(node, weakest) : level_of(current);
      // ORDER: release, pairs with the exchange in pop_slot(): the thread that pops the node sees its owner's writes;
      // and acquire on failure, pairs with the fetch_add in raise(), as above.
      if (word_.compare_exchange_weak(current, current | entry, std::memory_order_release, std::memory_order_acquire))
        return stop_level::none;
    }
    return attach_to_list(node, weakest);
  }

  // Detaches a node. True: the node is out and will not fire. False: it was popped, or another thread detached it. Any
  // thread.
  [[nodiscard]] bool detach(detail::stop_node& node) noexcept {
    return detach_from_slot(node) || detach_from_list(node);
  }

  // Detaches a node from the slot alone, inline. False: the node was popped or is in a list; detach() distinguishes.
  [[nodiscard]] bool detach_from_slot(detail::stop_node& node) noexcept {
    // ORDER: relaxed, pairs with nothing: a caller that may detach the node knows that it is attached, so the loaded
    // word is not older.
    word current = word_.load(std::memory_order_relaxed);
    while (node_of(current) == &node) {
      // ORDER: relaxed, pairs with nothing: other threads read the node only after they pop it, and now none can.
      if (word_.compare_exchange_weak(current, current & level_bits, std::memory_order_relaxed,
                                      std::memory_order_relaxed))
        return true;
    }
    return false;
  }

 private:
  friend class detail::daemon_group;
  friend class detail::stop_link;
  friend class detail::late_stop_source;
  using word = std::uintptr_t;
  static constexpr word level_bits = 3, cancel_bit = 1, kill_bit = 2, shielded = 4, node_bits = ~word{7};
  static constexpr word apart = cancel_bit | kill_bit, apart_cancelled = apart | shielded;  // see late_stop_source
  static bool is_apart(word current) noexcept { return (current & level_bits) == apart; }
  explicit stop_source(word initial) noexcept : word_(initial) {}
  static word bits_of(stop_level level) noexcept { return static_cast<word>(level); }
  static stop_level level_of(word current) noexcept { return static_cast<stop_level>(current & level_bits); }
  static detail::stop_node* node_of(word current) noexcept {
    return reinterpret_cast<detail::stop_node*>(current & node_bits);
  }

  stop_level attach_to_list(detail::stop_node& node, detail::min_stop_level weakest) noexcept;
  bool detach_from_list(detail::stop_node& node) noexcept;
  void unlink(detail::stop_node& node) noexcept { (shielded_.begins_with(node) ? shielded_ : open_).erase(node); }
  [[HOCKET_NOINLINE]] stop_level attach_below(detail::stop_node& node, detail::min_stop_level weakest) noexcept;
  [[HOCKET_NOINLINE]] stop_level requested_above() const noexcept;
  bool request(stop_level level, bool by_deadline) noexcept;
  bool raise_apart(word current, stop_level level, bool by_deadline) noexcept;
  bool raise(stop_level level, bool by_deadline) noexcept;
  // By a daemon_group: takes back a cancel if no node is attached. False: nothing was changed.
  bool withdraw_cancel() noexcept;
  // Called under the mutex, before the first request is published.
  void record_reason(bool by_deadline) noexcept {
    // ORDER: relaxed, pairs with the load in timed_out(): the store of the request publishes it.
    by_deadline_.store(by_deadline, std::memory_order_relaxed);
  }
  detail::stop_node* pop(stop_level level) noexcept;
  detail::stop_node* pop_slot(stop_level level) noexcept;

  primitive::atomic<word> word_{0};
  detail::short_list<detail::stop_node> open_;      // guarded by mutex_
  detail::short_list<detail::stop_node> shielded_;  // guarded by mutex_
  primitive::thread_mutex mutex_;
  primitive::atomic<bool> by_deadline_{false};  // the cause of the cancellation
};

}}  // namespace hocket
