// spawn_batch: many spawns that are handed over together.
//
//   spawn_batch batch(rt);                                     // a runtime, a loop, a scope
//   for (packet& one : received) spawn(batch, handle, std::move(one));
//                                                              // handed over at the brace, or by flush()
//
// spawn() makes the coroutine and gives its join_handle, as it does without a batch; but the coroutine waits in the
// batch until the batch is *flushed*. Then all of them enrol with the target, come into its queue, and wake whoever
// sleeps there, in one step each: where the target runs on other threads that is most of what a spawn costs beside the
// making. A batch flushes itself when it is full (at `capacity`), and at its end, also when an exception ends it: what was
// collected before runs.
//
// Until it is flushed a coroutine does not count: the target's live(), run() and shutdown do not know of it. Cancelling
// or killing it by its handle works, and takes effect when it begins. If the target refuses, as a runtime that was shut
// down does, all that are in the batch are refused, and their handles tell so (operation_canceled).
//
// Awaiting a coroutine before its batch is flushed waits for the flush. So whoever has the batch calls flush() before
// it awaits one of them, or it waits for itself: fatal at check level `debug`.
//
// A batch belongs to one thread, or to one coroutine, which may wait while it has one: what is collected waits, too.
// The target outlives it. A spawn in a batch throws what spawn() does, and then adds nothing to it; flush() throws
// nothing. A batch takes 1 KiB where it stands, on a stack or in a frame, and no other memory.
#pragma once
#include <hocket/core/detail/spawn.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class spawn_batch {
 public:
  // How many are handed over at once: enough that the handing over costs nothing, and so few that what is collected is
  // still in the caches, and that the workers have something to do meanwhile.
  static constexpr std::size_t capacity = 128;

  // Of the target of the running coroutine, as spawn() without a target.
  spawn_batch() noexcept : target_(detail::current_target()) {}
  template <detail::spawnable_on Where>
  explicit spawn_batch(Where& where) noexcept : target_(detail::target_of(where)) {}
  spawn_batch(const spawn_batch&) = delete;
  spawn_batch& operator=(const spawn_batch&) = delete;
  ~spawn_batch() {
    while (size_ != 0) flush();  // what is refused may spawn as it ends
  }

  // Hands over what was collected. Linear in that; allocates at most what it can do without.
  void flush() noexcept;

  // How many wait for it.
  std::size_t size() const noexcept { return size_; }

  // --- for spawn()
  using placed_with = spawn_options;
  class collecting_place;
  collecting_place place(const spawn_options& options) noexcept;

 private:
  void collect(detail::scheduled& made, std::coroutine_handle<> start) noexcept;
  void refuse(const detail::runnables& all, std::error_code why) noexcept;

  spawn_target& target_;
  std::size_t size_ = 0;
  detail::runnable* collected_[capacity];
};

// It enrols when the batch is flushed, and may be refused then.
class spawn_batch::collecting_place : public detail::direct_place {
 public:
  collecting_place(spawn_batch& batch, const spawn_options& options) noexcept
      : direct_place(batch.target_, options), batch_(batch) {}
  [[nodiscard]] bool admit(detail::scheduled&) noexcept { return true; }
  [[HOCKET_ALWAYS_INLINE]] void accept(detail::scheduled& made, std::coroutine_handle<> start) noexcept {
    batch_.collect(made, start);
  }
  void take_back(detail::scheduled&) noexcept {}

 private:
  spawn_batch& batch_;
};

inline spawn_batch::collecting_place spawn_batch::place(const spawn_options& options) noexcept {
  return {*this, options};
}

}}  // namespace hocket
