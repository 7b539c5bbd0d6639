// sigaction, signal: each handler runs in a function of ours, which notes that.
//
// The note is a frame on the handler's stack, and the thread has its address. A handler may be left by siglongjmp().
// Then the note stays, and is found to be over when the same fiber makes a call further up on its stack, or another
// fiber makes one.
//
// Handlers that are installed otherwise (sigset(), by a system call) are not known. What they call may park.
#include "signal_scope.hpp"

#include "next.hpp"

#include <hocket/base/detail/atomic.hpp>
#include <hocket/fiber/detail/fiber_thread.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <ucontext.h>

namespace hocket::inline HOCKET_ABI::hook {
namespace {

using hocket::detail::fiber_thread;

using handler_function = void (*)(int, siginfo_t*, void*);

struct installed {
  primitive::atomic<handler_function> handler{nullptr};
  primitive::atomic<bool> wants_info{false};
};
constinit std::array<installed, NSIG> all{};

// Of the innermost handler that runs on this thread, or was left.
struct handler_frame;
thread_local constinit handler_frame* innermost = nullptr;

const void* fiber_here() noexcept {
  const fiber_thread* const thread = fiber_thread::current_if_any();
  return thread ? thread->running : nullptr;
}

// On the stack of a handler.
struct handler_frame {
  const void* fiber = fiber_here();
  handler_frame* const outer = innermost;

  handler_frame() noexcept { innermost = this; }
  ~handler_frame() { innermost = outer; }
  handler_frame(const handler_frame&) = delete;
  handler_frame& operator=(const handler_frame&) = delete;
};

void run_handler(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  {
    const handler_frame here;
    // ORDER: relaxed, pairs with the store in install(): sigaction(2) comes after that.
    if (const handler_function handler = all[static_cast<std::size_t>(number)].handler.load(std::memory_order_relaxed))
      handler(number, info, context);
  }
  errno = kept;
}

bool is_handler(const struct sigaction& what) noexcept {
  return what.sa_handler != SIG_DFL && what.sa_handler != SIG_IGN;
}

// What was there before, as the user has written it.
void restore(struct sigaction& old, handler_function handler, bool wants_info) noexcept {
  if (old.sa_sigaction != &run_handler) return;
  old.sa_sigaction = handler;
  if (!wants_info) old.sa_flags &= ~SA_SIGINFO;
}

int install(int number, const struct sigaction* what, struct sigaction* old) noexcept {
  const auto real = find_next(next.sigaction, "sigaction");
  if (number <= 0 || number >= NSIG) return real(number, what, old);
  installed& slot = all[static_cast<std::size_t>(number)];
  // ORDER: relaxed, pairs with the stores below: two that install at once race, as they do in the system.
  const handler_function before = slot.handler.load(std::memory_order_relaxed);
  const bool wanted_info = slot.wants_info.load(std::memory_order_relaxed);
  struct sigaction ours{};
  if (what && is_handler(*what)) {
    ours = *what;
    ours.sa_sigaction = &run_handler;
    ours.sa_flags |= SA_SIGINFO;
    // ORDER: relaxed, pairs with the load in run_handler().
    slot.handler.store(what->sa_sigaction, std::memory_order_relaxed);
    slot.wants_info.store((what->sa_flags & SA_SIGINFO) != 0, std::memory_order_relaxed);
    what = &ours;
  }
  const int done = real(number, what, old);
  if (done == 0 && old) restore(*old, before, wanted_info);
  if (done != 0) {
    // ORDER: relaxed, as above.
    slot.handler.store(before, std::memory_order_relaxed);
    slot.wants_info.store(wanted_info, std::memory_order_relaxed);
  }
  return done;
}

}  // namespace

bool in_signal_handler() noexcept {
  const void* const here = __builtin_frame_address(0);
  while (innermost) {
    if (innermost->fiber == fiber_here() && here < static_cast<const void*>(innermost)) return true;
    innermost = innermost->outer;  // it was left by siglongjmp()
  }
  return false;
}

}  // namespace hocket::inline HOCKET_ABI::hook

namespace hook = hocket::hook;

extern "C" {

int sigaction(int number, const struct sigaction* what, struct sigaction* old) noexcept {
  return hook::install(number, what, old);
}

// As BSD and glibc have it: it stays installed, and calls begin again.
sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction what{}, old{};
  what.sa_handler = handler;
  what.sa_flags = SA_RESTART;
  sigemptyset(&what.sa_mask);
  sigaddset(&what.sa_mask, number);
  return hook::install(number, &what, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // extern "C"
