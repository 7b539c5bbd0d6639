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

// Not the name that sanitizers replace.
#if defined(__GLIBC__)
extern "C" int __clone(int (*)(void*), void*, int, void*, ...) noexcept;  // NOLINT: the C library's
#else
static constexpr auto& __clone = ::clone;  // NOLINT: as above
#endif

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// Where ids have 16 bits in the calls of the first name.
#if defined(SYS_setresuid32)
constexpr long set_user = SYS_setresuid32, set_group = SYS_setresgid32, set_groups = SYS_setgroups32;
#else
constexpr long set_user = SYS_setresuid, set_group = SYS_setresgid, set_groups = SYS_setgroups;
#endif

constexpr int last_signal = 64;
constexpr std::size_t bytes_of_signals = 8;  // of the kernel's set
constexpr int code_without_program = 127;    // as of a shell

// --- in the child

// What a system call returns, or an error number below 0.
template <class... Args>
[[HOCKET_UNINSTRUMENTED]] long call(long number, Args... arguments) noexcept {
  const long returned = ::syscall(number, arguments...);
  return returned < 0 ? -errno : returned;
}

[[HOCKET_UNINSTRUMENTED]] int error_of(long returned) noexcept {
  return returned < 0 ? static_cast<int>(-returned) : 0;
}

// The kernel's, whose other members are zero, or not looked at.
struct signal_action {
  void (*handler)(int);
  unsigned long others[7];
};

[[HOCKET_UNINSTRUMENTED]] void set_action(int signal, void (*handler)(int)) noexcept {
  const signal_action action{handler, {}};
  call(SYS_rt_sigaction, signal, &action, nullptr, bytes_of_signals);
}

// Handlers do not exist in a program that begins. Afterwards the signals can be unblocked.
[[HOCKET_UNINSTRUMENTED]] void reset_actions(const child_plan& plan) noexcept {
  for (int signal = 1; signal <= last_signal; ++signal) {
    if ((plan.ignored >> (signal - 1) & 1) != 0) {
      set_action(signal, SIG_IGN);
    } else if (signal == SIGPIPE) {
      set_action(signal, SIG_DFL);
    } else {
      signal_action present{};
      call(SYS_rt_sigaction, signal, nullptr, &present, bytes_of_signals);
      if (present.handler != SIG_DFL && present.handler != SIG_IGN) set_action(signal, SIG_DFL);
    }
  }
}

[[HOCKET_UNINSTRUMENTED]] int make_session(const child_plan& plan) noexcept {
  if (plan.new_session) return error_of(call(SYS_setsid));
  return plan.new_group ? error_of(call(SYS_setpgid, 0, 0)) : 0;
}

// A source that an earlier move would replace is moved out of the way first.
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

// The user last: then the process may not change the groups any more.
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
  if (error == 0) error = error_of(call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, bytes_of_signals));
  return error;
}

// As execvp(3): a program that is not there, or that may not be executed, is looked for in the next directory.
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

// With a guard below.
class child_stack {
 public:
  child_stack() noexcept
      : memory_(::mmap(nullptr, guard + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (is_there()) ::mprotect(memory_, guard, PROT_NONE);
  }
  child_stack(const child_stack&) = delete;
  child_stack& operator=(const child_stack&) = delete;
  ~child_stack() {
    if (is_there()) ::munmap(memory_, guard + size);
  }
  bool is_there() const noexcept { return memory_ != MAP_FAILED; }
  void* top() const noexcept { return static_cast<char*>(memory_) + guard + size; }

 private:
  static constexpr std::size_t guard = 65536, size = 65536;  // whole pages, of any size
  void* const memory_;
};

// Also the signals of the C library, which its functions leave out.
class all_signals_blocked {
 public:
  all_signals_blocked() noexcept { set_mask(~std::uint64_t{0}, &before_); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;
  ~all_signals_blocked() { set_mask(before_, nullptr); }

 private:
  static void set_mask(std::uint64_t mask, std::uint64_t* before) noexcept {
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, bytes_of_signals);
  }
  std::uint64_t before_ = 0;
};

void reap(pid_t id) noexcept {
  siginfo_t facts{};
  while (::waitid(P_PID, static_cast<id_t>(id), &facts, WEXITED) != 0 && errno == EINTR) {
  }
}

// CLONE_PARENT_SETTID stores the id before the child runs, and so before its end can be noticed.
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
  const int error = stack.is_there() ? clone_child(start, stack, id) : ENOMEM;
  // ORDER: relaxed, pairs with nothing: this thread's own store.
  const pid_t cloned = id.load(std::memory_order_relaxed);
  if (error != 0 && cloned >= 0) reap(cloned);
  errno = errno_before;
  return error;
}

}}}  // namespace hocket::detail
