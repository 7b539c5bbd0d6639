// Stands where a coroutine's handle is wanted: an awaiter resumes it, and it says who goes on.
//
// It is not allocated: it is a frame made by hand (core/thread/seam/frame.hpp), which lies in whatever waits. In
// conforming mode it is a real coroutine. As a parent it has a header, so that a task that is awaited through it has a
// context and a budget.
#pragma once
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct stand_in {
  // What resuming it does. Gives whom to resume next; null for nobody. `self` may be gone then.
  using continuation = std::coroutine_handle<> (*)(stand_in& self) noexcept;

  explicit stand_in(continuation then) noexcept : go_on(then) {}

  frame_head head{};
  migratable_header header{};
  continuation go_on;  // may be changed before the next open()
};

// Its handle, for one resumption; `header` is set before, and is up to date again when it goes on. Throws bad_alloc in
// conforming mode.
std::coroutine_handle<migratable_header> open(stand_in& frame);

// Instead of the resumption.
void close(std::coroutine_handle<migratable_header> handle) noexcept;

}}}  // namespace hocket::detail
