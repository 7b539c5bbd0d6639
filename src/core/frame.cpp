#include <hocket/core/frame.hpp>

namespace hocket::inline HOCKET_ABI {

static_assert(offsetof(frame_head, destroy) == sizeof(void*) && sizeof(frame_head) == 2 * sizeof(void*),
              "a frame begins with two function pointers");

// Out of line: where a compiler sees both this call and the stubs it could turn an indirect call into a direct one
// under its private convention for coroutine parts (Clang before mid-2026 does).
std::coroutine_handle<> handle_of(frame_head& head) noexcept { return std::coroutine_handle<>::from_address(&head); }

}  // namespace hocket::inline HOCKET_ABI
