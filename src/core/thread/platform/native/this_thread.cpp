// The state of a thread, if code on any stack runs on the thread itself.
#include "core/thread/unloading.hpp"

#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Constant-initialised and trivially destructible: valid from the thread's first instruction to its last, so that a
// coroutine may be destroyed during thread exit and static destruction.
#if defined(HOCKET_THREAD_STATE)
extern thread_local thread_state own_thread_state asm(HOCKET_THREAD_STATE);
[[gnu::used]] thread_local constinit thread_state own_thread_state;
#else
namespace {
thread_local constinit thread_state state;
}

thread_state& this_thread() noexcept {
  thread_state* own = &state;
  asm volatile("" : "+r"(own));
  return *own;
}
#endif

namespace {

// The loader calls such functions before the destructors of static objects. (At the end of a program the order is
// reversed.)
constinit atomic<bool> unloaded{false};
[[gnu::destructor]] void begin_to_unload() noexcept {
  // ORDER: relaxed, pairs with the load in unloading().
  unloaded.store(true, std::memory_order_relaxed);
}

}  // namespace

bool unloading() noexcept {
  // ORDER: relaxed, pairs with nothing: the unloading thread reads its own store, and no other thread runs code of the
  // library.
  return unloaded.load(std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
