// Stop sources: one request, many waits that it ends.
//
// A stop_source has two strengths. *cancelled* asks: waits end with operation_canceled, and shielded code may ignore
// it. *killed* tells: waits end by unwinding. A kill may follow a cancel, never the reverse.
//
// A node stands for one wait. It is attached *open*, or *shielded*: then only a kill fires it.
// States of a node: out -> attached -> (detached by its owner -> out) | (popped by a request -> fired -> out).
// A request pops one node at a time and fires it without a lock; a node whose detach() returned false has been popped,
// and its memory is free only when its fire() has let go (in a wait: by dropping its hold, claim.hpp).
//
// Where nodes stand. Most sources have at most one node: one coroutine, which waits for one thing. So one node may
// stand in a *slot* in the word that also tells what was requested, and comes and goes by one compare-exchange:
//
//   bits 0..1  what was requested: 0 nothing, 1 cancelled, 2 killed; 3: see late_stop_source (stop_link.hpp)
//   bit  2     the node in the slot is shielded
//   bits 3..   its address; 0: the slot is free
//
// The others, and links to other sources (stop_link.hpp), stand in two lists under the mutex.
//
//   attach(): the slot is free, and no more was requested than the node can bear -> compare-exchange it in;
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
#include <hocket/base/mutex.hpp>
#include <hocket/base/short_list.hpp>
#include <hocket/core/claim.hpp>

namespace hocket::inline HOCKET_ABI {

class stop_link;

// Aligned for the marks in the low bits of its address, on every architecture.
struct alignas(8) stop_node : list_node {
  void (*fire)(stop_node& self, verdict strength) noexcept = nullptr;  // null: the node is a stop_link
};

class stop_source {
 public:
  stop_source() noexcept = default;
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;
  ~stop_source() {
    // ORDER: relaxed, pairs with nothing: nobody else may use the source any more.
    const bool alone = !node_of(word_.load(std::memory_order_relaxed)) && open_.empty() && shielded_.empty();
    expects(alone, "a stop_source was destroyed while coroutines wait under it",
            "join the coroutines first (a scope does), or let the source outlive them");
  }

  // Any thread. Fires every attached node that is not shielded from it, here and in all sources that are linked below,
  // on the caller's thread. False if as much was requested before. `strength` is verdict::cancelled or verdict::killed.
  bool request(verdict strength = verdict::cancelled) noexcept { return request(strength, false); }

  // Any thread. Cancels like request(), because a deadline has passed that a task manager keeps: the waits that this
  // ends give timed_out. The first cancellation decides.
  bool request_time_out() noexcept { return request(verdict::cancelled, true); }
  // Any thread. True: request_time_out() has cancelled this source, or a source above it.
  bool timed_out() const noexcept {
    // ORDER: relaxed, pairs with the store in note_reason(): requested() acquires the request that publishes it.
    return requested() != verdict::idle && by_deadline_.load(std::memory_order_relaxed);
  }

  // Any thread. verdict::idle while nothing is requested.
  verdict requested() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    const word seen = word_.load(std::memory_order_acquire);
    if (is_apart(seen)) [[unlikely]]
      return requested_above();
    return strength_of(seen);
  }
  bool killed() const noexcept { return may_be_killed() && requested() == verdict::killed; }
  // The same without a call: false, it is not; true, killed() is to be asked.
  bool may_be_killed() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    return (word_.load(std::memory_order_acquire) & kill_bit) != 0;
  }
  // The same for any request: false, there is none; true, requested() is to be asked.
  bool may_be_requested() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): a reader of the request sees its cause.
    return (word_.load(std::memory_order_acquire) & strength_bits) != 0;
  }

  // Any thread. Attaches, unless more than `above` was requested already: then returns that, and the node stays out.
  // verdict::idle: attached. `above` is idle, or cancelled for a node that only a kill shall fire.
  [[nodiscard]] verdict attach(stop_node& node, verdict above = verdict::idle) noexcept {
    debug_expects(above == verdict::idle || above == verdict::cancelled, "a stop_node was attached above a kill",
                  "a kill cannot be ignored: leave the node out");
    const word entry = reinterpret_cast<word>(&node) | (above == verdict::idle ? 0 : shield);
    // ORDER: acquire, pairs with the fetch_add in raise(): who is refused sees what led to the request.
    word seen = word_.load(std::memory_order_acquire);
    while (!node_of(seen)) {
      if (strength_of(seen) > above) return is_apart(seen) ? attach_below(node, above) : strength_of(seen);
      // ORDER: release, pairs with the exchange in pop_slot(): who pops the node sees what its owner wrote to it; and
      // acquire on failure, pairs with the fetch_add in raise(), as above.
      if (word_.compare_exchange_weak(seen, seen | entry, std::memory_order_release, std::memory_order_acquire))
        return verdict::idle;
    }
    return attach_to_list(node, above);
  }

  // Any thread. True: the node is out and will not fire. False: it was popped, or taken back by another.
  [[nodiscard]] bool detach(stop_node& node) noexcept { return detach_from_slot(node) || detach_from_list(node); }

  // detach() for the slot alone, inline. False: the node was popped, or is linked in a list: detach() tells which.
  [[nodiscard]] bool detach_from_slot(stop_node& node) noexcept {
    // ORDER: relaxed, pairs with nothing: who may detach the node knows that it is attached, so what is read is not
    // older.
    word seen = word_.load(std::memory_order_relaxed);
    while (node_of(seen) == &node) {
      // ORDER: relaxed, pairs with nothing: the node is not looked at by others before they pop it, and now nobody
      // will.
      if (word_.compare_exchange_weak(seen, seen & strength_bits, std::memory_order_relaxed, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

 private:
  friend class stop_link;
  friend class late_stop_source;
  using word = std::uintptr_t;
  static constexpr word strength_bits = 3, cancel_bit = 1, kill_bit = 2, shield = 4, node_bits = ~word{7};
  static constexpr word apart = cancel_bit | kill_bit, apart_cancelled = apart | shield;  // see late_stop_source
  static bool is_apart(word seen) noexcept { return (seen & strength_bits) == apart; }
  explicit stop_source(word initial) noexcept : word_(initial) {}
  static word bits_of(verdict strength) noexcept;
  static verdict strength_of(word seen) noexcept {
    const word bits = seen & strength_bits;
    return bits == 0 ? verdict::idle : bits == cancel_bit ? verdict::cancelled : verdict::killed;
  }
  static stop_node* node_of(word seen) noexcept { return reinterpret_cast<stop_node*>(seen & node_bits); }

  verdict attach_to_list(stop_node& node, verdict above) noexcept;
  bool detach_from_list(stop_node& node) noexcept;
  void unlink(stop_node& node) noexcept { (shielded_.begins_with(node) ? shielded_ : open_).erase(node); }
  [[gnu::noinline]] verdict attach_below(stop_node& node, verdict above) noexcept;
  [[gnu::noinline]] verdict requested_above() const noexcept;
  bool request(verdict strength, bool by_deadline) noexcept;
  bool raise_apart(word seen, verdict strength, bool by_deadline) noexcept;
  bool raise(verdict strength, bool by_deadline) noexcept;
  // Under the mutex, before the first request is published.
  void note_reason(bool by_deadline) noexcept {
    // ORDER: relaxed, pairs with the load in timed_out(): the store of the request publishes it.
    by_deadline_.store(by_deadline, std::memory_order_relaxed);
  }
  stop_node* pop(verdict strength) noexcept;
  stop_node* pop_slot(verdict strength) noexcept;

  atomic<word> word_{0};
  short_list<stop_node> open_;      // guarded by mutex_
  short_list<stop_node> shielded_;  // guarded by mutex_
  thread_mutex mutex_;
  atomic<bool> by_deadline_{false};  // the reason of the cancellation
};

}  // namespace hocket::inline HOCKET_ABI
