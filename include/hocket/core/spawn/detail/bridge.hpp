// The bridge to foreign awaitables (core/spawn/seam/foreign_wait.hpp): a frame. Its resume posts a coroutine to its
// executor. The resume may come from any thread, inside await_suspend or before that has returned, or never.
//
// The bridge posts in an await_suspend, that is when its own frame is suspended: the coroutine that is woken so may
// destroy the frame at once, on another thread. A second resume finds the frame past that point, and is fatal (if the
// frame still exists: afterwards it is a use of freed memory, which ASan finds).
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/thread/seam/runnable.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class context;

namespace detail {

class bridge {
 public:
  // Whether the running code has an executor that a coroutine could be posted to.
  static bool possible() noexcept;

  // For one wait of the running coroutine, whose handle is `waiting`. Throws bad_alloc, and what unwinds the coroutine
  // if that was killed. Fatal while it is unwound.
  explicit bridge(std::coroutine_handle<> waiting);
  bridge(const bridge&) = delete;
  bridge& operator=(const bridge&) = delete;
  ~bridge();

  // What the foreign awaitable may resume, once.
  std::coroutine_handle<> handle() const noexcept { return frame_; }

  // The coroutine itself, when it runs again: its context is the current one again.
  void end() noexcept;

  // The coroutine does not suspend. Fatal if the handle was resumed.
  void withdraw() noexcept;

 private:
  struct coroutine;
  static coroutine wait(bridge& self);
  void stop_waiting() noexcept;

  context& ctx_;
  runnable run_;
  atomic<bool> over_{false};  // resumed, or withdrawn
  bool waits_ = true;         // and its coroutine counts it
  std::coroutine_handle<> frame_;
};

}  // namespace detail

}}  // namespace hocket
