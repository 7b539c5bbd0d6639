// Linux: the signal handler of memory faults, and alternate stacks.
//
// `former` and `present_observer` are written before the handler is installed. So if a fault occurs while another
// thread installs the handler, the handler reads both.
#include <hocket/stack/seam/fault.hpp>

#include <hocket/base/seam/atomic.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr int watched[] = {SIGSEGV, SIGBUS};
struct sigaction former[2];  // the former handlers
fault_observer present_observer = nullptr;

struct sigaction& handler_before(int signal) noexcept { return former[signal == watched[0] ? 0 : 1]; }

std::uintptr_t stack_pointer_of(const void* state) noexcept {
  [[maybe_unused]] const mcontext_t& machine = static_cast<const ucontext_t*>(state)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine.sp);
#elif defined(__riscv)
  return static_cast<std::uintptr_t>(machine.__gregs[REG_SP]);
#else
  return 0;
#endif
}

// A faulting instruction faults again when the handler returns, now with the default action. A sent signal must be
// raised again: it arrives after the handler has returned, when it is no longer blocked.
void take_default_action(int signal, bool sent) noexcept {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
  if (sent) ::raise(signal);
}

// Calls a handler like the kernel would. The return from our handler unblocks the signals that it blocks.
void call_handler(struct sigaction& handler, int signal, siginfo_t* info, void* state) noexcept {
  const struct sigaction called = handler;
  if (called.sa_flags & static_cast<int>(SA_RESETHAND)) {
    handler.sa_handler = SIG_DFL;
    handler.sa_flags = 0;
  }
  sigset_t blocked = called.sa_mask;
  ::pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  if (called.sa_flags & SA_NODEFER) {
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  }
  if (called.sa_flags & SA_SIGINFO) called.sa_sigaction(signal, info, state);
  else called.sa_handler(signal);
}

void on_fault(int signal, siginfo_t* info, void* state) {
  const int error = errno;
  const bool sent = info->si_code <= 0;  // by kill() or raise()
  if (!sent) present_observer({reinterpret_cast<std::uintptr_t>(info->si_addr), stack_pointer_of(state)});
  struct sigaction& handler = handler_before(signal);
  // The kernel, too, ignores only sent signals.
  if (handler.sa_handler == SIG_IGN && sent) return;
  if (handler.sa_handler == SIG_DFL || handler.sa_handler == SIG_IGN) take_default_action(signal, sent);
  else call_handler(handler, signal, info, state);
  errno = error;
}

struct installation {
  explicit installation(fault_observer observer) noexcept {
    present_observer = observer;
    struct sigaction ours{};
    ours.sa_sigaction = &on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    for (int signal : watched) {
      ::sigaction(signal, nullptr, &handler_before(signal));
      ::sigaction(signal, &ours, nullptr);
    }
  }
  ~installation() {
    for (int signal : watched) {
      struct sigaction now{};
      ::sigaction(signal, nullptr, &now);
      if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == &on_fault)
        ::sigaction(signal, &handler_before(signal), nullptr);
    }
  }
};

std::size_t signal_stack_size() noexcept {
  constexpr std::size_t usual = 64 * 1024;  // address space; a handler that is called on it may print a backtrace
#if defined(_SC_SIGSTKSZ)
  const long required = ::sysconf(_SC_SIGSTKSZ);
  return required > 0 ? std::max(usual, static_cast<std::size_t>(required)) : usual;
#else
  return usual;
#endif
}

}  // namespace

void watch_faults(fault_observer observer) noexcept {
  static const installation once(observer);
  static_cast<void>(once);
}

void signal_stack::install() noexcept {
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = page + (signal_stack_size() + page - 1) / page * page;
  void* memory = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  auto* low = static_cast<std::byte*>(memory) + page;
  stack_t own{};
  own.ss_sp = low;
  own.ss_size = size - page;
  if (::mprotect(low, size - page, PROT_READ | PROT_WRITE) != 0 || ::sigaltstack(&own, nullptr) != 0) {
    ::munmap(memory, size);
    return;
  }
  memory_ = static_cast<std::byte*>(memory);
  size_ = size;
}

void signal_stack::remove() noexcept {
  if (!memory_) return;
  stack_t now{};
  ::sigaltstack(nullptr, &now);
  if (now.ss_sp >= memory_ && now.ss_sp < memory_ + size_) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  ::munmap(memory_, size_);
  memory_ = nullptr;
}

}}}  // namespace hocket::detail
