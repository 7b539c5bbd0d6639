// How a raw fiber begins and ends: what coroutine<> and the bare handle do besides switching.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Fatal if the fiber of `record` must unwind but its body has continued instead.
void check_unwound(const fiber_record& record) noexcept;

// Rethrows the exception of a finished fiber, if there is one.
void rethrow_error(const fiber_record& record);

// The fiber's last switch. Its result is stored; it is never resumed again.
[[noreturn]] void finish(fiber_record& record, void* resumer) noexcept;

// Creates a fiber, in two halves. The caller constructs the body below the record between them. begin_fiber takes a
// stack of the pool (null: the thread's default pool) with space for `footprint` bytes beside a call chain. The fiber
// can be given up until arm_fiber makes it resumable. Its frames begin below `top`.
fiber_record& begin_fiber(stack_pool* pool, const char* name, void* user_data, std::size_t footprint);
// Like begin_fiber(), without an exception, for a scheduled fiber, which needs no space for a body. Returns null and
// sets `error`.
fiber_record* try_begin_fiber(stack_pool& pool, const char* name, void* user_data, std::error_code& error) noexcept;
// Like begin_fiber(), on a stack that the caller has taken from the pool's depot.
fiber_record& begin_fiber_on(const stack_ref& stack, stack_pool& pool, const char* name, void* user_data);
[[noreturn]] void throw_no_stack(std::error_code error);
void arm_fiber(fiber_record& record, void* top, void (*entry)(void*, void*, void*)) noexcept;
void give_up_fiber(fiber_record& record) noexcept;

// Called before arm_fiber(): gives the fiber a floating-point environment of its own, a copy of the caller's.
void begin_own_floating_point(fiber_record& record);

// Gives a fiber up unless it was armed.
struct unless_armed {
  fiber_record& record;
  bool armed = false;
  ~unless_armed() {
    if (!armed) give_up_fiber(record);
  }
};

// Notifies the observers of a new fiber.
void announce_fiber(const fiber_record& record) noexcept;

// Ends a fiber in any state and returns its stack; unwinds it if it is suspended. The first form unpacks it before.
void destroy_fiber(control_block& block) noexcept;
void destroy_fiber(fiber_record& record) noexcept;

// Returns the stack of a finished fiber.
void bury_fiber(fiber_record& record) noexcept;

// A bare handle that owns the fiber.
std::coroutine_handle<> release_fiber(control_block& block);

}}}  // namespace hocket::detail
