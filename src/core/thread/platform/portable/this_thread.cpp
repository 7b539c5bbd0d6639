// The state of a thread by a call, in standard C++. This file is compiled alone and without link-time optimisation, so
// no compiler inlines the call into a coroutine. So each call returns the state of its own thread.
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
