// sigaction, signal: run_handler() wraps each handler, and records it while it runs.
//
// The records are of the thread, not on the handler's stack: siglongjmp() may leave a handler, and its stack is used
// again. A record is stale if
//   - the caller is another fiber than the interrupted one; or
//   - the handler's signal is no longer blocked. A handler with SA_NODEFER never blocks it: then the record is stale if
//     the caller's frame is above the handler's on the stack.
// Only a call that finds a record makes these checks.
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

struct handler_slot {
  primitive::atomic<handler_function> handler{nullptr};
  primitive::atomic<bool> wants_info{false};
  primitive::atomic<bool> nodefer{false};
};
constinit std::array<handler_slot, NSIG> handler_slots{};

struct handler_record {
  const void* fiber;
  const void* frame;
  int number;
};

// The running handlers of this thread, and stale records. Handlers beyond `capacity` are only counted.
class handler_records {
 public:
  void push(const handler_record& record) noexcept {
    if (count_ < capacity) all_[count_] = record;
    ++count_;
  }
  void pop() noexcept { --count_; }
  bool empty() const noexcept { return count_ == 0; }
  bool is_full() const noexcept { return count_ > capacity; }
  const handler_record& last() const noexcept { return all_[count_ - 1]; }
  std::size_t count() const noexcept { return count_; }
  void truncate(std::size_t to) noexcept { count_ = to; }

 private:
  static constexpr std::size_t capacity = 16;
  handler_record all_[capacity];
  std::size_t count_;
};
thread_local constinit handler_records running_handlers{};

bool is_blocked(int number) noexcept {
  sigset_t blocked;
  return ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, number) == 1;
}

bool is_stale(const handler_record& record, const void* frame) noexcept {
  if (record.fiber != hocket::detail::running_fiber_context()) return true;
  // ORDER: relaxed, pairs with the store in install(): as in run_handler().
  if (!handler_slots[static_cast<std::size_t>(record.number)].nodefer.load(std::memory_order_relaxed))
    return !is_blocked(record.number);
  return frame > record.frame;
}

void run_handler(int number, siginfo_t* info, void* context) {
  const int error_before = errno;
  const std::size_t before = running_handlers.count();
  running_handlers.push({hocket::detail::running_fiber_context(), __builtin_frame_address(0), number});
  const handler_slot& slot = handler_slots[static_cast<std::size_t>(number)];
  // ORDER: relaxed, pairs with the stores in install(): sigaction(2) follows them.
  if (const handler_function handler = slot.handler.load(std::memory_order_relaxed)) {
    if (slot.wants_info.load(std::memory_order_relaxed)) handler(number, info, context);
    else reinterpret_cast<sighandler_t>(reinterpret_cast<void*>(handler))(number);
  }
  running_handlers.truncate(before);
  errno = error_before;
}

bool is_handler(const struct sigaction& action) noexcept {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

// Makes `old` what the user installed.
void restore(struct sigaction& old, handler_function handler, bool wants_info) noexcept {
  if (old.sa_sigaction != &run_handler) return;
  old.sa_sigaction = handler;
  if (!wants_info) old.sa_flags &= ~SA_SIGINFO;
}

int install(int number, const struct sigaction* action, struct sigaction* old) noexcept {
  const auto real = find_next(next.sigaction, "sigaction");
  if (number <= 0 || number >= NSIG) return real(number, action, old);
  handler_slot& slot = handler_slots[static_cast<std::size_t>(number)];
  // ORDER: relaxed, pairs with the stores below: concurrent installs race, as in the system.
  const handler_function before = slot.handler.load(std::memory_order_relaxed);
  const bool wanted_info_before = slot.wants_info.load(std::memory_order_relaxed);
  struct sigaction ours{};
  if (action && is_handler(*action)) {
    ours = *action;
    ours.sa_sigaction = &run_handler;
    ours.sa_flags |= SA_SIGINFO;
    // ORDER: relaxed, pairs with the load in run_handler().
    slot.handler.store(action->sa_sigaction, std::memory_order_relaxed);
    slot.wants_info.store((action->sa_flags & SA_SIGINFO) != 0, std::memory_order_relaxed);
    slot.nodefer.store((action->sa_flags & SA_NODEFER) != 0, std::memory_order_relaxed);
    action = &ours;
  }
  const int result = real(number, action, old);
  if (result == 0 && old) restore(*old, before, wanted_info_before);
  if (result != 0) {
    // ORDER: relaxed, as above.
    slot.handler.store(before, std::memory_order_relaxed);
    slot.wants_info.store(wanted_info_before, std::memory_order_relaxed);
  }
  return result;
}

}  // namespace

bool in_signal_handler() noexcept {
  if (running_handlers.is_full()) return true;
  while (!running_handlers.empty()) {
    if (!is_stale(running_handlers.last(), __builtin_frame_address(0))) return true;
    running_handlers.pop();
  }
  return false;
}

}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int sigaction(int number, const struct sigaction* action, struct sigaction* old) noexcept {
  return hook::install(number, action, old);
}

// As in BSD and glibc: the handler stays installed, and interrupted calls restart.
sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action{}, old{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, number);
  return hook::install(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

}  // extern "C"
