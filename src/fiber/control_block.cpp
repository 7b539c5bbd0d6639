#include <hocket/fiber/control_block.hpp>

namespace hocket::inline HOCKET_ABI {

constinit control_block vacant_block{{nullptr, nullptr}, {}, nullptr};

}  // namespace hocket::inline HOCKET_ABI
