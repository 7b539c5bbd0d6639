#include <hocket/context/detail/exception_globals.hpp>

#include <cxxabi.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

exception_globals& current_exception_globals() noexcept {
  return *reinterpret_cast<exception_globals*>(__cxxabiv1::__cxa_get_globals());
}

}}}  // namespace hocket::detail
