// The cold state of a fiber, at the top of its stack: for its start, its end and its observers.
#pragma once
#include <hocket/context/seam/switch.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <cfenv>
#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct called_stack;
struct control_block;
class stack_image;
struct fiber_local_node;

struct alignas(16) fiber_record {
  control_block* block;
  stack_pool* pool;              // the pool of the stack: on the thread of the fiber
  stack_image* image = nullptr;  // for a copied stack, while its frames are there: the memory of the next image
  const char* name;              // outlives the fiber; never null
  void* user_data;
  fiber_local_node* locals = nullptr;                        // fiber-local values; null until the first
  called_stack* calls = nullptr;                             // the innermost called stack; null: it runs on its own
  void (*drop_body)(fiber_record& self) noexcept = nullptr;  // destroys the result, and the callable if it never ran
  std::exception_ptr error;                                  // the exception of the body
  exception_globals exceptions{};         // of the parked fiber, while fiber_flag::keeps_exceptions is set
  std::fenv_t* floating_point = nullptr;  // of the parked fiber, with special_bit::own_floating_point: on the heap
  [[no_unique_address]] switch_annotation annotation;
  std::uint32_t body_size = 0;  // in units of 16 bytes: the callable and the result, which lie below this record

  // The frames begin below.
  std::byte* base() const noexcept {
    return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this)) - std::size_t{body_size} * 16;
  }
  std::byte* top() const noexcept { return const_cast<std::byte*>(reinterpret_cast<const std::byte*>(this + 1)); }

  // The record of a control block; in the image if the stack is packed. Cold.
  static fiber_record& from_block(control_block& block) noexcept;
  static fiber_record& on(const stack_ref& stack) noexcept { return below(stack.top); }
  static fiber_record& below(std::byte* top) noexcept {
    return *reinterpret_cast<fiber_record*>(top - sizeof(fiber_record));
  }
};

}}}  // namespace hocket::detail
