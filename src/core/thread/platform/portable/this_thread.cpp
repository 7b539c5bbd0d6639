// A thread's own state by a call, in standard C++. No compiler sees into it from a coroutine: this file is compiled
// without link-time optimisation, and alone. So each call finds the thread on which it runs.
#include "core/thread/unloading.hpp"

#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// Constant-initialised and trivially destructible, as native/this_thread.cpp says.
thread_local constinit thread_state state;

}  // namespace

thread_state& this_thread() noexcept { return state; }

bool unloading() noexcept { return false; }

}}}  // namespace hocket::detail
