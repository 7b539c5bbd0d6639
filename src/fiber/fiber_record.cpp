#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/stack/seam/stack_image.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

fiber_record& fiber_record::from_block(control_block& block) noexcept {
  fiber_record& home = below(stack_pool::top_of(&block));
  if ((block.header.reserved & stack_bit::packed) == 0) [[likely]]
    return home;
  return *static_cast<fiber_record*>(static_cast<stack_image*>(block.record)->find(&home));
}

}}}  // namespace hocket::detail
