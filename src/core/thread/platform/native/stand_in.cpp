// The frame of a stand-in is its own: two function pointers at the same place as in a coroutine frame.
#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/stand_in.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// In tail position, like a transfer. If the compiler makes no jump of it, the budget of the chain bounds the depth.
void resume_stand_in(void* frame) {
  auto& self = *static_cast<stand_in*>(frame);
  if (std::coroutine_handle<> next = self.go_on(self)) next.resume();
}
void destroy_stand_in(void*) {
  fatal("a coroutine was destroyed by what it awaits", "an awaitable resumes who awaits it, exactly once");
}

// Read at run time, because a compiler that knows these functions could call them by its own convention for the parts
// of a coroutine.
void (*volatile stand_in_resume)(void*) = &resume_stand_in;
void (*volatile stand_in_destroy)(void*) = &destroy_stand_in;

}  // namespace

static_assert(offsetof(stand_in, header) == 2 * sizeof(void*), "a frame begins like a compiler's");

std::coroutine_handle<migratable_header> open(stand_in& frame) {
  frame.head = {stand_in_resume, stand_in_destroy};
  return with_header<migratable_header>(handle_of(frame.head));
}

void close(std::coroutine_handle<migratable_header>) noexcept {}

}}}  // namespace hocket::detail
