// How a raw fiber begins and ends: what coroutine<> and the bare handle do besides switching.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Fatal when `record`'s fiber is to unwind but its body went on instead.
void check_unwound(const fiber_record& record) noexcept;

// Throws what left the body of a finished fiber, if anything did.
void rethrow_error(const fiber_record& record);

// The fiber's last switch. Its result is stored; nobody goes on at it again.
[[noreturn]] void finish(fiber_record& record, void* resumer) noexcept;

// Making a fiber, in two halves between which the caller puts the body below the record. begin_fiber takes a stack of
// the pool (the thread's default pool, if null) with room for `footprint` bytes besides a call chain; the fiber can be
// given up until arm_fiber has made it one that can be resumed. Its frames begin below `top`.
fiber_record& begin_fiber(stack_pool* pool, const char* name, void* user_data, std::size_t footprint);
// The same without an exception, for a scheduled one, which needs no room: null, and why.
fiber_record* try_begin_fiber(stack_pool& pool, const char* name, void* user_data, std::error_code& error) noexcept;
// And on a stack of the pool's depot that the caller has.
fiber_record& begin_fiber_on(const stack_ref& stack, stack_pool& pool, const char* name, void* user_data);
[[noreturn]] void throw_no_stack(std::error_code error);
void arm_fiber(fiber_record& record, void* top, void (*entry)(void*, void*, void*)) noexcept;
void give_up_fiber(fiber_record& record) noexcept;

// Before it is armed: its floating-point environment becomes its own, beginning with the caller's.
void begin_own_floating_point(fiber_record& record);

// Gives a fiber up unless it was armed.
struct unless_armed {
  fiber_record& record;
  bool armed = false;
  ~unless_armed() {
    if (!armed) give_up_fiber(record);
  }
};

// Tells the observers of a fiber that was made.
void announce_fiber(const fiber_record& record) noexcept;

// Ends a fiber in any state and gives its stack back: unwinds it if it is suspended.
// The first form unpacks it before.
void destroy_fiber(control_block& block) noexcept;
void destroy_fiber(fiber_record& record) noexcept;

// Gives the stack of a finished fiber back.
void bury_fiber(fiber_record& record) noexcept;

// A bare handle that owns the fiber.
std::coroutine_handle<> release_fiber(control_block& block);

}}}  // namespace hocket::detail
