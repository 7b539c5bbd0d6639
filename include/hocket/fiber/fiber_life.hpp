// How a raw fiber begins and ends: what coroutine<> and the bare handle do besides switching.
#pragma once
#include <hocket/fiber/control_block.hpp>
#include <hocket/fiber/fiber_record.hpp>

namespace hocket::inline HOCKET_ABI {
namespace detail {

// What unwinds a fiber that is destroyed while suspended. Private: a catch (...) that meets it must rethrow it.
class forced_unwind {};

// Fatal when `record`'s fiber is to unwind but its body went on instead.
void check_unwound(const fiber_record& record) noexcept;

// Fatal when the canary of a stack without a guard page is gone.
void check_canary(const fiber_record& record) noexcept;

// Throws what left the body of a finished fiber, if anything did.
void rethrow_error(const fiber_record& record);

// The fiber's last switch. Its result is stored; nobody goes on at it again.
[[noreturn]] void finish(fiber_record& record, void* resumer) noexcept;

// A stack of the pool (of the thread's default pool, if null) with room for `footprint` bytes besides a call chain.
stack_ref acquire_stack(stack_pool* pool, fiber_thread& thread, std::size_t footprint);

// The two halves of making an unstarted fiber: the record first, then, when the body is in its place, the control
// block. The frames begin below `top`; `entry` is called with the record.
fiber_record& make_record(const stack_ref& stack, const char* name, void* user_data) noexcept;
void make_control_block(fiber_record& record, fiber_thread& thread, void* top,
                        void (*entry)(void*, void*, void*)) noexcept;

// Ends a fiber in any state and gives its stack back: unwinds it if it is suspended.
void destroy_fiber(fiber_record& record) noexcept;

// A bare handle that owns the fiber.
std::coroutine_handle<> release_fiber(control_block& block);

}  // namespace detail
}  // namespace hocket::inline HOCKET_ABI
