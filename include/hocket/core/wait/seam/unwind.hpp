// Unwinding: the end of a coroutine that is destroyed while it is suspended, or killed.
//
// Its wait throws `forced_unwind`, and the destructors of its locals run. Do not catch the type: a catch (...) must
// rethrow it, and a destructor that unwinding runs must not suspend. Both errors are found, and fatal.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class forced_unwind {};

[[noreturn]] void throw_unwinding();

}}}  // namespace hocket::detail
