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
//   bits 0..1  what was requested: 0 nothing, 1 cancelled, 2 killed
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
#include <hocket/base/list.hpp>
#include <hocket/base/mutex.hpp>
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
  ~stop_source();  // nothing may be attached

  // Any thread. Fires every attached node that is not shielded from it, here and in all sources that are linked below,
  // on the caller's thread. False if as much was requested before. `strength` is verdict::cancelled or verdict::killed.
  bool request(verdict strength = verdict::cancelled) noexcept;

  // Any thread. verdict::idle while nothing is requested.
  verdict requested() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): who sees the request sees what led to it.
    return strength_of(word_.load(std::memory_order_acquire));
  }
  bool killed() const noexcept {
    // ORDER: acquire, pairs with the fetch_add in raise(): who sees the request sees what led to it.
    return (word_.load(std::memory_order_acquire) & strength_bits) == kill_bit;
  }

  // Any thread. Attaches, unless more than `above` was requested already: then returns that, and the node stays out.
  // verdict::idle: attached. `above` is idle, or cancelled for a node that only a kill shall fire.
  [[nodiscard]] verdict attach(stop_node& node, verdict above = verdict::idle) noexcept;

  // Any thread. True: the node is out and will not fire. False: it was popped.
  [[nodiscard]] bool detach(stop_node& node) noexcept;

 private:
  friend class stop_link;
  using word = std::uintptr_t;
  static constexpr word strength_bits = 3, cancel_bit = 1, kill_bit = 2, shield = 4, node_bits = ~word{7};
  static word bits_of(verdict strength) noexcept;
  static verdict strength_of(word seen) noexcept {
    constexpr verdict meaning[] = {verdict::idle, verdict::cancelled, verdict::killed};
    return meaning[seen & strength_bits];
  }
  static stop_node* node_of(word seen) noexcept;

  verdict attach_to_list(stop_node& node, verdict above) noexcept;
  bool raise(verdict strength) noexcept;
  stop_node* pop(verdict strength) noexcept;
  stop_node* pop_slot(verdict strength) noexcept;

  atomic<word> word_{0};
  thread_mutex mutex_;
  list<stop_node> open_;      // guarded by mutex_
  list<stop_node> shielded_;  // guarded by mutex_
};

}  // namespace hocket::inline HOCKET_ABI
