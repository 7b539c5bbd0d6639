// Where the waits of a coroutine call the hooks of its slots (core/wait/seam/coroutine_slot.hpp).
#pragma once
#include <hocket/core/context.hpp>
#include <coroutine>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The registrar of a wait, before the wait can end: `coroutine` is suspended. Calls on_suspend(), and returns the
// handle to post when the wait ends; `coroutine` itself if the context has no slot with hooks.
std::coroutine_handle<> suspend_slots(context& ctx, std::coroutine_handle<> coroutine) noexcept;

// The registrar, if the coroutine continues at once. `posted` is the result of suspend_slots(). Calls on_resume().
void resume_slots(const context& ctx, std::coroutine_handle<> posted) noexcept;

}}}  // namespace hocket::detail
