// The heavy half of an asymmetric fence: Linux's membarrier(2), which interrupts each processor that runs a thread of
// this process, and so puts a full fence into it. Another kernel, or a sandbox that forbids the call: both halves are
// full fences.
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/forks.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<linux/membarrier.h>)
#include <linux/membarrier.h>
#endif

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit atomic<bool> fences_are_asymmetric = false;

namespace {

#if __has_include(<linux/membarrier.h>)
bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }
bool register_process() noexcept { return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); }
// A child of fork() may have to register anew.
void fence_all_threads() noexcept {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  expects(register_process() && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), "membarrier(2) was available and is not",
          "a sandbox that forbids it must be set up before hocket is first used");
}
#else
bool register_process() noexcept { return false; }
void fence_all_threads() noexcept {}
#endif

}  // namespace

void prepare_asymmetric_fences() noexcept {
  static const bool prepared = [] {
    static_cast<void>(forks_so_far());  // from here on a child is noticed (base/detail/sleepers.hpp)
    // ORDER: relaxed, pairs with the loads in light_fence() and heavy_fence(): a light half that reads false is a whole
    // fence, and each heavy half comes after this in its own thread.
    fences_are_asymmetric.store(register_process(), std::memory_order_relaxed);
    return true;
  }();
  static_cast<void>(prepared);
}

void heavy_fence() noexcept {
  // ORDER: forbids that the load behind it moves up before the store in front of it, in this thread.
  fence(std::memory_order_seq_cst);
  // ORDER: relaxed, pairs with the store in prepare_asymmetric_fences(): see there.
  if (fences_are_asymmetric.load(std::memory_order_relaxed)) fence_all_threads();
}

}}}  // namespace hocket::detail
