#include <hocket/core/thread/detail/current.hpp>

#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool leaving_by_failure() noexcept { return std::uncaught_exceptions() > 0 || this_thread().early_ends != 0; }

}}}  // namespace hocket::detail
