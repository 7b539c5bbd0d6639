#include <hocket/fiber/detail/off_stack_wait.hpp>
#include <hocket/fiber/detail/packing.hpp>

#include <algorithm>
#include <iterator>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void wait_pin::begin(control_block& fiber, const exposed_memory& memory) noexcept {
  const bool copied = (fiber.header.reserved & stack_bit::copied) != 0;
  if ((memory.all && !copied) || refers_to_stack(memory.data, memory.size, fiber) ||
      std::any_of(std::begin(memory.lists), std::end(memory.lists),
                  [&](std::span<const std::byte> list) { return refers_to_stack(list.data(), list.size(), fiber); }))
    pinned_ = pin_stack(fiber, "what it waits for");
}

}}}  // namespace hocket::detail
