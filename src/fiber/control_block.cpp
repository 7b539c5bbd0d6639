#include <hocket/fiber/control_block.hpp>

namespace hocket::inline HOCKET_ABI {

constinit control_block vacant_block{{nullptr, nullptr}, {}, nullptr};
constinit control_block retired_block{{nullptr, nullptr}, {}, nullptr};

}  // namespace hocket::inline HOCKET_ABI
