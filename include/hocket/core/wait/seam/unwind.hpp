// Unwinding: how a coroutine ends that is destroyed while suspended, or killed.
//
// Its wait throws `forced_unwind`, and the destructors of its locals run. The type is not for catching: a catch (...)
// that meets it must rethrow, and a destructor that runs because of it must not suspend. Both are found, and fatal.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class forced_unwind {};

[[noreturn]] void throw_unwinding();

}}}  // namespace hocket::detail
