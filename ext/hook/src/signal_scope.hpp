// Whether a signal handler runs on this thread. In a handler a hooked call must not wait: the handler may have
// interrupted a wait.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Async-signal-safe.
[[HOCKET_NOINLINE]] bool in_signal_handler() noexcept;

}}}  // namespace hocket::hook
