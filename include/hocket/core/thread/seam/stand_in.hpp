// A stand-in takes the place of a coroutine's handle: an awaiter resumes it, and it returns the coroutine to resume
// next.
//
// It is a hand-made frame (core/thread/seam/frame.hpp) inside the waiting object, so it is not allocated. In conforming
// mode it is a real coroutine. As a parent it has a header, so a task that is awaited through it has a context and a
// budget.
#pragma once
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct stand_in {
  // Called by the resume. Returns the coroutine to resume next; null: none. `self` may be destroyed then.
  using continuation = std::coroutine_handle<> (*)(stand_in& self) noexcept;

  explicit stand_in(continuation then) noexcept : go_on(then) {}

  frame_head head{};
  migratable_header header{};
  continuation go_on;  // may be changed before the next open()
};

// Returns its handle, for one resumption. The caller sets `header` before; the header is current again at the
// continuation. Throws bad_alloc in conforming mode.
std::coroutine_handle<migratable_header> open(stand_in& frame);

// Instead of the resumption: destroys the handle.
void close(std::coroutine_handle<migratable_header> handle) noexcept;

}}}  // namespace hocket::detail
