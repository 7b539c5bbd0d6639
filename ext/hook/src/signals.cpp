// sigaction, signal: run_handler() wraps each handler and notes it while it runs.
//
// The thread keeps the notes, not the handler's stack: siglongjmp() may leave a handler, and its stack is used again. A
// note is stale if
//   - the caller is another fiber than the interrupted one; or
//   - the handler's signal is no longer blocked. A handler with SA_NODEFER never blocks it: then the note is stale if
//     the caller's frame is above the handler's on the stack.
// Only a call that finds a note makes these checks.
//
// Handlers installed in other ways (sigset(), a system call) are unknown: calls in them may park.
#include "signal_scope.hpp"

#include "next.hpp"

#include <hocket/base/seam/atomic.hpp>
#include <hocket/fiber/seam/running_stack.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <ucontext.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {
namespace {

using handler_function = void (*)(int, siginfo_t*, void*);

struct installed {
  primitive::atomic<handler_function> handler{nullptr};
  primitive::atomic<bool> wants_info{false};
  primitive::atomic<bool> nodefer{false};
};
constinit std::array<installed, NSIG> all{};

struct note {
  const void* fiber;
  const void* frame;
  int number;
};

// The running handlers of this thread, and left ones. Beyond `room` handlers are only counted.
class notes {
 public:
  void push(const note& one) noexcept {
    if (count_ < room) all_[count_] = one;
    ++count_;
  }
  void drop() noexcept { --count_; }
  bool empty() const noexcept { return count_ == 0; }
  bool is_full() const noexcept { return count_ > room; }
  const note& last() const noexcept { return all_[count_ - 1]; }
  std::size_t count() const noexcept { return count_; }
  void cut(std::size_t to) noexcept { count_ = to; }

 private:
  static constexpr std::size_t room = 16;
  note all_[room];
  std::size_t count_;
};
thread_local constinit notes here{};

bool is_blocked(int number) noexcept {
  sigset_t blocked;
  return ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, number) == 1;
}

bool is_over(const note& one, const void* frame) noexcept {
  if (one.fiber != hocket::detail::running_fiber_context()) return true;
  // ORDER: relaxed, pairs with the store in install(): as in run_handler().
  if (!all[static_cast<std::size_t>(one.number)].nodefer.load(std::memory_order_relaxed))
    return !is_blocked(one.number);
  return frame > one.frame;
}

void run_handler(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  const std::size_t before = here.count();
  here.push({hocket::detail::running_fiber_context(), __builtin_frame_address(0), number});
  const installed& slot = all[static_cast<std::size_t>(number)];
  // ORDER: relaxed, pairs with the stores in install(): sigaction(2) comes after them.
  if (const handler_function handler = slot.handler.load(std::memory_order_relaxed)) {
    if (slot.wants_info.load(std::memory_order_relaxed)) handler(number, info, context);
    else reinterpret_cast<sighandler_t>(reinterpret_cast<void*>(handler))(number);
  }
  here.cut(before);
  errno = kept;
}

bool is_handler(const struct sigaction& what) noexcept {
  return what.sa_handler != SIG_DFL && what.sa_handler != SIG_IGN;
}

// Makes `old` what the user installed.
void restore(struct sigaction& old, handler_function handler, bool wants_info) noexcept {
  if (old.sa_sigaction != &run_handler) return;
  old.sa_sigaction = handler;
  if (!wants_info) old.sa_flags &= ~SA_SIGINFO;
}

int install(int number, const struct sigaction* what, struct sigaction* old) noexcept {
  const auto real = find_next(next.sigaction, "sigaction");
  if (number <= 0 || number >= NSIG) return real(number, what, old);
  installed& slot = all[static_cast<std::size_t>(number)];
  // ORDER: relaxed, pairs with the stores below: concurrent installs race, as in the system.
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
    slot.nodefer.store((what->sa_flags & SA_NODEFER) != 0, std::memory_order_relaxed);
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
  if (here.is_full()) return true;
  while (!here.empty()) {
    if (!is_over(here.last(), __builtin_frame_address(0))) return true;
    here.drop();
  }
  return false;
}

}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int sigaction(int number, const struct sigaction* what, struct sigaction* old) noexcept {
  return hook::install(number, what, old);
}

// As in BSD and glibc: the handler stays installed, and interrupted calls restart.
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
