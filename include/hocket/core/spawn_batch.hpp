// spawn_batch: many spawns in one step.
//
//   spawn_batch batch(rt);                                     // a runtime, a loop, a scope
//   for (packet& p : packets) spawn(batch, handle, std::move(p));
//                                                              // flushed at the brace, or by flush()
//
// spawn() makes the coroutine and returns its join_handle, as it does without a batch. But the coroutine waits in the
// batch until the batch is *flushed*. A flush enrols all of them with the target, pushes them to its queue, and wakes
// its sleeping threads, in one step each. If the target runs on other threads, these steps are most of a spawn's cost
// beside the construction. A batch flushes itself when it is full (at `capacity`) and at its destruction, also by an
// exception: the coroutines that were collected before run.
//
// Before the flush a coroutine does not count: the target's live(), run() and shutdown ignore it. Cancelling or killing
// it by its handle works, and takes effect when it begins.
//
// Errors. If the target refuses, as a runtime does after shutdown, it refuses all coroutines in the batch, and their
// handles report operation_canceled. A spawn in a batch throws the exceptions of spawn(), and then adds nothing to the
// batch; flush() throws nothing.
//
// A daemon (spawn_options) is not collected: it begins as without a batch.
//
// Do not. Awaiting a coroutine before its batch is flushed waits for the flush. If the owner of the batch awaits this
// coroutine, it waits for itself. That is fatal at check level `debug`. Prevented by flush() before the await.
//
// Thread safety. A batch belongs to one thread, or to one coroutine. The coroutine may wait while it has a batch; the
// collected coroutines wait, too. The target outlives the batch.
//
// Cost. A batch takes 1 KiB in place, on a stack or in a frame, and no other memory.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// A batch of spawns; see above.
class spawn_batch {
 public:
  // The maximum number of coroutines in one flush. It is large enough that the flush costs nothing for each coroutine.
  // It is small enough that the coroutines are still in the caches and that the workers are busy meanwhile.
  static constexpr std::size_t capacity = 128;

  // A batch for the target of the running coroutine, like spawn() without a target.
  spawn_batch() noexcept : target_(detail::current_target()) {}
  template <detail::spawnable_on Target>
  explicit spawn_batch(Target& target) noexcept : target_(detail::target_of(target)) {}
  spawn_batch(const spawn_batch&) = delete;
  spawn_batch& operator=(const spawn_batch&) = delete;
  ~spawn_batch() {
    while (size_ != 0) flush();  // a refused callable may spawn as it ends
  }

  // Hands over the collected coroutines. Linear in their number. Allocates only memory that it can do without.
  void flush() noexcept;

  // The number of collected coroutines.
  std::size_t size() const noexcept { return size_; }

  // --- for spawn()
  using placed_with = spawn_options;
  class collecting_place;
  collecting_place place(const spawn_options& options);

 private:
  void collect(detail::scheduled& child, std::coroutine_handle<> start) noexcept;
  void refuse(const detail::runnables& all, std::error_code error) noexcept;

  spawn_target& target_;
  std::size_t size_ = 0;
  detail::runnable* collected_[capacity];
};

// The place of a collected coroutine. It enrols when the batch is flushed, and may be refused then. A daemon enrols
// with another target than the rest, so it is not collected.
class spawn_batch::collecting_place : public detail::direct_place {
 public:
  collecting_place(spawn_batch& batch, const spawn_options& options)
      : direct_place(batch.target_, options), batch_(batch) {}
  [[nodiscard]] bool admit(detail::scheduled& child) noexcept { return !options().daemon || child.enroll(); }
  [[HOCKET_ALWAYS_INLINE]] void accept(detail::scheduled& child, std::coroutine_handle<> start) noexcept {
    if (options().daemon) child.launch(start);
    else batch_.collect(child, start);
  }
  void take_back(detail::scheduled& child) noexcept {
    if (options().daemon) child.withdraw();
  }

 private:
  spawn_batch& batch_;
};

inline spawn_batch::collecting_place spawn_batch::place(const spawn_options& options) { return {*this, options}; }

}}  // namespace hocket
