#include <hocket/fiber/detail/control_block.hpp>

namespace hocket::inline HOCKET_ABI::detail {

constinit control_block vacant_block{{nullptr, nullptr}, {}, nullptr};

}  // namespace hocket::inline HOCKET_ABI::detail
