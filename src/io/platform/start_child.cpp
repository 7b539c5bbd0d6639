#include <io/platform/start_child.hpp>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if HOCKET_PORTABLE
#define HOCKET_UNINSTRUMENTED
#elif defined(__clang__)
#define HOCKET_UNINSTRUMENTED clang::disable_sanitizer_instrumentation, clang::no_sanitize("undefined"), gnu::noinline
#else
#define HOCKET_UNINSTRUMENTED \
  gnu::no_sanitize_address, gnu::no_sanitize_thread, gnu::no_sanitize_undefined, gnu::noinline
#endif

// __clone(), because sanitizers replace clone().
#if defined(__GLIBC__)
extern "C" int __clone(int (*)(void*), void*, int, void*, ...) noexcept;  // NOLINT: the C library's
#else
static constexpr auto& __clone = ::clone;  // NOLINT: as above
#endif

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// On some architectures the calls without the suffix have ids of 16 bits.
#if defined(SYS_setresuid32)
constexpr long set_user = SYS_setresuid32, set_group = SYS_setresgid32, set_groups = SYS_setgroups32;
#else
constexpr long set_user = SYS_setresuid, set_group = SYS_setresgid, set_groups = SYS_setgroups;
#endif

constexpr int last_signal = 64;
constexpr std::size_t signal_set_size = 8;  // of the kernel's type, in bytes
constexpr int code_without_program = 127;   // as in shells

// --- in the child

// Returns the result of a system call, or a negative error number.
template <class... Args>
[[HOCKET_UNINSTRUMENTED]] long call(long number, Args... arguments) noexcept {
  const long rc = ::syscall(number, arguments...);
  return rc < 0 ? -errno : rc;
}

[[HOCKET_UNINSTRUMENTED]] int error_of(long rc) noexcept { return rc < 0 ? static_cast<int>(-rc) : 0; }

// The kernel's type. The other members are zero, or not read.
struct signal_action {
  void (*handler)(int);
  unsigned long others[7];
};

[[HOCKET_UNINSTRUMENTED]] void set_action(int signal, void (*handler)(int)) noexcept {
  const signal_action action{handler, {}};
  call(SYS_rt_sigaction, signal, &action, nullptr, signal_set_size);
}

// Removes all handlers, so that the signals can be unblocked before exec(2).
[[HOCKET_UNINSTRUMENTED]] void reset_actions(const child_plan& plan) noexcept {
  for (int signal = 1; signal <= last_signal; ++signal) {
    if ((plan.ignored >> (signal - 1) & 1) != 0) {
      set_action(signal, SIG_IGN);
    } else if (signal == SIGPIPE) {
      set_action(signal, SIG_DFL);
    } else {
      signal_action present{};
      call(SYS_rt_sigaction, signal, nullptr, &present, signal_set_size);
      if (present.handler != SIG_DFL && present.handler != SIG_IGN) set_action(signal, SIG_DFL);
    }
  }
}

[[HOCKET_UNINSTRUMENTED]] int make_session(const child_plan& plan) noexcept {
  if (plan.new_session) return error_of(call(SYS_setsid));
  return plan.new_group ? error_of(call(SYS_setpgid, 0, 0)) : 0;
}

// Before the first move, copies each source that a move could replace to an fd above all targets.
[[HOCKET_UNINSTRUMENTED]] int move_fds(const child_plan& plan) noexcept {
  int highest = -1;
  for (std::size_t i = 0; i != plan.move_count; ++i) {
    if (plan.moves[i].target > highest) highest = plan.moves[i].target;
  }
  for (std::size_t i = 0; i != plan.move_count; ++i) {
    fd_move& move = plan.moves[i];
    if (move.source > highest || move.source == move.target) continue;
    const long copy = call(SYS_fcntl, move.source, F_DUPFD_CLOEXEC, highest + 1L);
    if (copy < 0) return error_of(copy);
    move.source = static_cast<int>(copy);
  }
  for (std::size_t i = 0; i != plan.move_count; ++i) {
    const fd_move& move = plan.moves[i];
    const long moved = move.source == move.target ? call(SYS_fcntl, move.source, F_SETFD, 0)
                                                  : call(SYS_dup3, move.source, move.target, 0);
    if (moved < 0) return error_of(moved);
  }
  return 0;
}

[[HOCKET_UNINSTRUMENTED]] int set_limits(const child_plan& plan) noexcept {
  for (std::size_t i = 0; i != plan.limit_count; ++i) {
    const std::uint64_t both[2] = {plan.limits[i].soft, plan.limits[i].hard};
    const long changed = call(SYS_prlimit64, 0, plan.limits[i].resource, both, nullptr);
    if (changed < 0) return error_of(changed);
  }
  return 0;
}

// Sets the user last, because then the process loses the right to change its groups.
[[HOCKET_UNINSTRUMENTED]] int set_ids(const child_plan& plan) noexcept {
  long changed = 0;
  if (plan.group_count >= 0) changed = call(set_groups, plan.group_count, plan.groups);
  const auto group = static_cast<gid_t>(plan.group);
  if (changed == 0 && plan.group >= 0) changed = call(set_group, group, group, group);
  const auto user = static_cast<uid_t>(plan.user);
  if (changed == 0 && plan.user >= 0) changed = call(set_user, user, user, user);
  return error_of(changed);
}

[[HOCKET_UNINSTRUMENTED]] int prepare(const child_plan& plan) noexcept {
  reset_actions(plan);
  int error = make_session(plan);
  if (error == 0) error = move_fds(plan);
  if (plan.umask >= 0) call(SYS_umask, plan.umask);
  if (error == 0) error = set_limits(plan);
  if (error == 0) error = set_ids(plan);
  if (error == 0 && plan.directory) error = error_of(call(SYS_chdir, plan.directory));
  const std::uint64_t none = 0;
  if (error == 0) error = error_of(call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, signal_set_size));
  return error;
}

// As execvp(3): if a program does not exist, or may not be executed, tries the next directory.
[[HOCKET_UNINSTRUMENTED]] int execute(const child_plan& plan) noexcept {
  bool is_denied = false;
  int error = ENOENT;
  for (const char* const* program = plan.programs; *program; ++program) {
    error = error_of(call(SYS_execve, *program, plan.arguments, plan.variables));
    if (error == EACCES) is_denied = true;
    else if (error != ENOENT && error != ENOTDIR && error != ESTALE && error != ENODEV && error != ETIMEDOUT)
      return error;
  }
  return is_denied ? EACCES : error;
}

struct shared_start {
  const child_plan* plan;
  int error;
};

[[HOCKET_UNINSTRUMENTED]] int run_child(void* argument) {
  shared_start& start = *static_cast<shared_start*>(argument);
  int error = prepare(*start.plan);
  if (error == 0) error = execute(*start.plan);
  start.error = error;
  call(SYS_exit_group, code_without_program);
  return code_without_program;
}

// --- in the parent

// A stack with a guard below.
class child_stack {
 public:
  child_stack() noexcept
      : memory_(::mmap(nullptr, guard + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (is_mapped()) ::mprotect(memory_, guard, PROT_NONE);
  }
  child_stack(const child_stack&) = delete;
  child_stack& operator=(const child_stack&) = delete;
  ~child_stack() {
    if (is_mapped()) ::munmap(memory_, guard + size);
  }
  bool is_mapped() const noexcept { return memory_ != MAP_FAILED; }
  void* top() const noexcept { return static_cast<char*>(memory_) + guard + size; }

 private:
  static constexpr std::size_t guard = 65536, size = 65536;  // whole pages, of any size
  void* const memory_;
};

// Blocks also the internal signals of the C library, which the C library's functions exclude.
class all_signals_blocked {
 public:
  all_signals_blocked() noexcept { set_mask(~std::uint64_t{0}, &before_); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;
  ~all_signals_blocked() { set_mask(before_, nullptr); }

 private:
  static void set_mask(std::uint64_t mask, std::uint64_t* before) noexcept {
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, signal_set_size);
  }
  std::uint64_t before_ = 0;
};

void reap(pid_t id) noexcept {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(id), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

// CLONE_PARENT_SETTID stores the id before the child runs, so before reap_orphans() can find its end.
int clone_child(shared_start& start, const child_stack& stack, atomic<pid_t>& id) noexcept {
  static_assert(sizeof id == sizeof(pid_t));
  const all_signals_blocked blocked;
  const int cloned = __clone(&run_child, stack.top(), CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD, &start,
                             reinterpret_cast<pid_t*>(&id));
  if (cloned < 0) return errno;
  // ORDER: relaxed, pairs with nothing: the kernel has stored it, which a sanitizer does not see.
  id.store(cloned, std::memory_order_relaxed);
  return start.error;
}

}  // namespace

int start_child(const child_plan& plan, atomic<pid_t>& id) noexcept {
  const int errno_before = errno;
  const child_stack stack;
  shared_start start{&plan, 0};
  const int error = stack.is_mapped() ? clone_child(start, stack, id) : ENOMEM;
  // ORDER: relaxed, pairs with nothing: this thread's own store.
  const pid_t cloned = id.load(std::memory_order_relaxed);
  if (error != 0 && cloned >= 0) reap(cloned);
  errno = errno_before;
  return error;
}

}}}  // namespace hocket::detail
