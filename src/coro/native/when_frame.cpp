// A child's frame is its own: two function pointers, where a coroutine has them (core/frame.hpp).
#include <hocket/base/fatal.hpp>
#include <hocket/coro/detail/when_group.hpp>

namespace hocket::inline HOCKET_ABI::detail {
namespace {

void resume_child(void* frame) {
  auto& self = *static_cast<when_frame*>(frame);
  self.finish(self);
}
void destroy_child(void*) {
  fatal("a child of a when_all was destroyed while it waits", "what it awaits must resume it exactly once");
}

// Read at run time: a compiler that saw which functions these are could call them by its own convention for the parts
// of a coroutine.
void (*volatile resume_entry)(void*) = &resume_child;
void (*volatile destroy_entry)(void*) = &destroy_child;

}  // namespace

static_assert(offsetof(when_frame, header) == 2 * sizeof(void*), "a frame begins like a compiler's");

std::coroutine_handle<coroutine_header> open(when_frame& frame) {
  frame.head = {resume_entry, destroy_entry};
  frame.header.ctx = frame.group;
  return with_header(handle_of(frame.head));  // no budget: a task that it awaits goes through the queue
}

void close(std::coroutine_handle<coroutine_header>) noexcept {}

}  // namespace hocket::inline HOCKET_ABI::detail
