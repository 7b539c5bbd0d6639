#pragma once
#include <hocket/core/thread/seam/current.hpp>

namespace hocket_test {

// The state of the calling thread, as the shared library finds it.
hocket::detail::thread_state* found_by_library() noexcept;

}  // namespace hocket_test
