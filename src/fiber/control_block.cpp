#include <hocket/fiber/detail/control_block.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit control_block vacant_block{{nullptr, nullptr}, {}, nullptr};

}}}  // namespace hocket::detail
