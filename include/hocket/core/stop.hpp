// Stop sources: one request, many waits that it ends.
//
// A stop_source has two strengths. *cancelled* asks: waits end with operation_canceled, and shielded code may ignore
// it. *killed* tells: waits end by unwinding. A kill may follow a cancel, never the reverse.
//
// States of a node: out -> attached -> (detached by its owner -> out) | (popped by request() -> fired -> out).
// request() pops one node at a time under the lock and fires it without the lock; a node whose detach() returned false
// has been popped, and its memory is free only when its fire() has let go (in a wait: by dropping its hold, claim.hpp).
// Nodes attached during a request see it: attach() returns the strength instead of attaching.
#pragma once
#include <hocket/base/list.hpp>
#include <hocket/base/mutex.hpp>
#include <hocket/core/claim.hpp>

namespace hocket::inline HOCKET_ABI {

struct stop_node : list_node {
  void (*fire)(stop_node& self, verdict strength) noexcept = nullptr;
};

class stop_source {
 public:
  stop_source() noexcept = default;
  stop_source(const stop_source&) = delete;
  stop_source& operator=(const stop_source&) = delete;
  ~stop_source();  // no node may be attached

  // Any thread. Fires every attached node, on the caller's thread. False if as much was requested before.
  // `strength` is verdict::cancelled or verdict::killed.
  bool request(verdict strength = verdict::cancelled) noexcept;

  // Any thread. verdict::idle while nothing is requested.
  verdict requested() const noexcept;

  // Any thread. Attaches, or returns what was requested already (the node then stays out). verdict::idle: attached.
  [[nodiscard]] verdict attach(stop_node& node) noexcept;

  // Any thread. True: the node is out and will not fire. False: it was popped.
  [[nodiscard]] bool detach(stop_node& node) noexcept;

 private:
  stop_node* pop() noexcept;

  mutable thread_mutex mutex_;
  atomic<std::uint8_t> strength_{0};  // a verdict; written under the mutex, read anywhere
  list<stop_node> nodes_;             // guarded by mutex_
};

}  // namespace hocket::inline HOCKET_ABI
