#include <hocket/io/seam/backend.hpp>

#include <cerrno>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

int backend::set_option(open_descriptor&, int, int, const void*, std::size_t) noexcept { return EOPNOTSUPP; }
int backend::get_option(open_descriptor&, int, int, void*, std::size_t&) noexcept { return EOPNOTSUPP; }
int backend::shut_down(open_descriptor&, int) noexcept { return EOPNOTSUPP; }
int backend::address_of(open_descriptor&, socket_side, void*, std::size_t&) noexcept { return EOPNOTSUPP; }
std::size_t backend::unsent(open_descriptor&) noexcept { return 0; }

}}}  // namespace hocket::detail
