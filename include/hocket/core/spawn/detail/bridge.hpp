// The bridge to foreign awaitables (core/spawn/seam/foreign_wait.hpp): a frame. Its resume posts a coroutine to its
// executor. Any thread may resume it, inside await_suspend or before that has returned, or never.
//
// The bridge posts in an await_suspend, when its own frame is suspended, because the woken coroutine may destroy the
// frame at once, on another thread. A second resume finds the frame past that point, and is fatal (if the frame still
// exists; otherwise it uses freed memory, which ASan finds).
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/thread/seam/runnable.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class context;

namespace detail {

class bridge {
 public:
  // Whether the running code has an executor to post to.
  static bool possible() noexcept;

  // For one wait of the running coroutine, with the handle `waiting`. Throws bad_alloc, and the unwinding of a killed
  // coroutine. Fatal while the coroutine is unwound.
  explicit bridge(std::coroutine_handle<> waiting);
  bridge(const bridge&) = delete;
  bridge& operator=(const bridge&) = delete;
  ~bridge();

  // The handle for the foreign awaitable, which resumes it once.
  std::coroutine_handle<> handle() const noexcept { return frame_; }

  // Called by the coroutine when it runs again. Restores its context as the current one.
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
