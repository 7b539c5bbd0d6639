#include <hocket/base/sleepers.hpp>

namespace hocket::inline HOCKET_ABI {

constinit atomic<std::uint32_t> detail::sleepers[detail::sleeper_counts] = {};

}  // namespace hocket::inline HOCKET_ABI
