// The cold state of a fiber, at the top of its stack: what its start, its end and its observers need.
#pragma once
#include <hocket/context/exception_globals.hpp>
#include <hocket/context/platform/annotation.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <exception>

namespace hocket::inline HOCKET_ABI {

struct control_block;
struct fiber_local_node;

struct alignas(16) fiber_record {
  control_block* block;
  stack_pool* pool;  // where the stack goes back to: of the thread that the fiber is on
  const char* name;  // outlives the fiber; never null
  void* user_data;
  fiber_local_node* locals;                        // fiber-local values; null until the first is made
  void (*drop_body)(fiber_record& self) noexcept;  // destroys the result, and the callable if it never ran
  std::exception_ptr error;                        // what left the body
  exception_globals exceptions;                    // of the parked fiber, while fiber_flag::keeps_exceptions is set
  [[no_unique_address]] switch_annotation annotation;

  std::byte* top() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

  // Found from the control block: cold.
  static fiber_record& of(control_block& block) noexcept { return below(stack_pool::top_of(&block)); }
  static fiber_record& on(const stack_ref& stack) noexcept { return below(stack.top); }
  static fiber_record& below(std::byte* top) noexcept {
    return *reinterpret_cast<fiber_record*>(top - sizeof(fiber_record));
  }
};

}  // namespace hocket::inline HOCKET_ABI
