// A message for the one way in which unwinding can fail without a chance to check: it meets a noexcept function (or a
// frame without unwind information) and the C++ runtime calls std::terminate.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Installs, once per process, a terminate handler that names the coroutine if this thread is unwinding one, and then
// or otherwise calls the handler that was there before.
void explain_terminate() noexcept;

}}}  // namespace hocket::detail
