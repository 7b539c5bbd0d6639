#include <hocket/stack/seam/fault.hpp>

#include "stack/memory.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// A call or a push touches the word below the stack pointer, a leaf its red zone (128 bytes), a probe of a large frame
// the stack pointer itself.
constexpr std::uintptr_t below_pointer = 256;

// How far one frame may jump over the guard page and still be taken for an overflow of this stack.
constexpr std::uintptr_t longest_jump = std::uintptr_t{1} << 20;

}  // namespace

stack_fault judge_fault(const memory_fault& fault, const std::byte* low) noexcept {
  const auto end = reinterpret_cast<std::uintptr_t>(low);
  const std::uintptr_t at = fault.address, pointer = fault.stack_pointer;
  if (at >= end) return stack_fault::foreign;
  const bool in_guard = at >= end - page_size();
  const bool jumped = pointer != 0 && pointer < end && end - pointer <= longest_jump;
  const bool by_growth = at + below_pointer >= pointer;  // true where the stack pointer is not known
  if (by_growth && (in_guard || jumped)) return stack_fault::overflow;
  return in_guard ? stack_fault::stray : stack_fault::foreign;
}

bool ran_off_stack(const memory_fault& fault) noexcept {
  const std::uintptr_t at = fault.address, pointer = fault.stack_pointer;
  return pointer != 0 && at + below_pointer >= pointer && at < pointer + page_size();
}

}}}  // namespace hocket::detail
