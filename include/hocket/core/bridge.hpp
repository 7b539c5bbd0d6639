// The bridge to foreign awaitables: those that resume a handle wherever they are, when they like.
//
// hocket's coroutines are resumed by their executor only. So a foreign awaitable does not get the coroutine's handle
// but that of a bridge: a frame of its own whose resume posts the coroutine to its executor. It may come from any
// thread, inside await_suspend or before that has returned, or never.
//
// The bridge posts in an await_suspend, that is when its own frame is suspended: the coroutine that is woken so may
// destroy the frame at once, on another thread. A second resume finds the frame past that point, and is fatal (if the
// frame still exists: afterwards it is a use of freed memory, which ASan finds).
// A wait for a foreign awaitable can be neither cancelled nor timed nor killed: nobody could take the handle back.
#pragma once
#include <hocket/core/runnable.hpp>

namespace hocket::inline HOCKET_ABI {

class bridge {
 public:
  // For one wait of the running coroutine, whose handle is `waiting`. Throws bad_alloc.
  explicit bridge(std::coroutine_handle<> waiting);
  bridge(const bridge&) = delete;
  bridge& operator=(const bridge&) = delete;
  ~bridge();

  // What the foreign awaitable may resume, once.
  std::coroutine_handle<> handle() const noexcept { return frame_; }

 private:
  struct coroutine;
  static coroutine wait(bridge& self);

  runnable run_;
  std::coroutine_handle<> frame_;
};

}  // namespace hocket::inline HOCKET_ABI
