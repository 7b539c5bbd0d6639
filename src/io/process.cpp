#include <hocket/io/process.hpp>

#include <hocket/io/detail/descriptor_limit.hpp>
#include <hocket/time/within.hpp>

#include "io/child.hpp"
#include "io/child_streams.hpp"
#include "io/child_texts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

bool ignores_child_ends() noexcept {
  struct sigaction present{};
  ::sigaction(SIGCHLD, nullptr, &present);
  return present.sa_handler == SIG_IGN || (present.sa_flags & SA_NOCLDWAIT) != 0;
}

bool can_be_ignored(int signal) noexcept {
  return signal > 0 && signal <= 64 && signal != SIGKILL && signal != SIGSTOP;
}

bool is_valid_id(std::int64_t id) noexcept { return id >= -1 && id < static_cast<std::int64_t>(~std::uint32_t{0}); }

bool are_valid(const process_options& options) noexcept {
  const bool are_valid_signals =
      std::all_of(options.ignored_signals.begin(), options.ignored_signals.end(), &can_be_ignored);
  return are_valid_signals && is_valid_id(options.user) && is_valid_id(options.group) && options.umask >= -1 &&
         options.umask <= 0777;
}

// exec(2) gives a handled signal its default action. So a signal that was ignored before a set received it is listed.
// SIGPIPE is not: it gets its default action.
signal_bits ignored_signals(const process_options& options) noexcept {
  signal_bits ignored = signals_ignored_before() & ~bit_of(SIGPIPE);
  for (const int signal : options.ignored_signals) ignored |= bit_of(signal);
  return ignored;
}

// The first limit is the soft limit of fds, if hocket has raised that of this process.
std::vector<resource_limit> limits_of(const process_options& options) {
  std::vector<resource_limit> limits;
  rlimit present{};
  if (const std::uint64_t soft = soft_limit_to_inherit(); soft != 0 && ::getrlimit(RLIMIT_NOFILE, &present) == 0)
    limits.push_back({RLIMIT_NOFILE, soft, present.rlim_max});
  limits.insert(limits.end(), options.limits.begin(), options.limits.end());
  return limits;
}

// -1: the groups are unchanged. A privileged process that changes the user and lists no groups drops its groups.
long group_count_of(const process_options& options) noexcept {
  if (!options.groups.empty()) return static_cast<long>(options.groups.size());
  return options.user >= 0 && ::geteuid() == 0 ? 0 : -1;
}

// The arguments of the child's system calls, in memory that lives until the program begins.
class child_preparation {
 public:
  child_preparation(const text_list& arguments, const process_options& options)
      : directory_(options.directory),
        limits_(limits_of(options)),
        programs_(programs_of(arguments[0])),
        arguments_(arguments_of(arguments, options)),
        variables_(environment_of(options)),
        groups_(options.groups.begin(), options.groups.end()) {}

  child_plan plan(const process_options& options, std::vector<fd_move>& moves) {
    child_plan plan;
    plan.ignored = ignored_signals(options);
    plan.new_session = options.new_session;
    plan.new_group = options.new_group;
    plan.moves = moves.data();
    plan.move_count = moves.size();
    plan.umask = options.umask;
    plan.limits = limits_.data();
    plan.limit_count = limits_.size();
    plan.groups = groups_.data();
    plan.group_count = group_count_of(options);
    plan.group = options.group;
    plan.user = options.user;
    if (!directory_.empty()) plan.directory = directory_.c_str();
    plan.programs = programs_.data();
    plan.arguments = arguments_.data();
    plan.variables = variables_.data();
    return plan;
  }

 private:
  std::string directory_;
  std::vector<resource_limit> limits_;
  exec_texts programs_, arguments_, variables_;
  std::vector<gid_t> groups_;
};

// Makes a stream of a pipe's end. Without effect if there is no pipe.
std::error_code adopt_end(unique_fd& end, stream& target) noexcept {
  if (!end) return {};
  result<descriptor> owner = descriptor_access::take_over(end.native_handle(), descriptor_kind::other);
  if (!owner) return owner.error();
  end.release();
  target = stream(std::move(*owner));
  return {};
}

// Returns the error number with which start() fails at once, or 0.
int check_start(const text_list& arguments, const process_options& options) noexcept {
  if (!are_valid_texts(arguments, options) || !are_valid(options)) return EINVAL;
  if (!has_pidfds()) return ENOSYS;
  return ignores_child_ends() ? ECHILD : 0;
}

}  // namespace

result<process> process::start(const text_arguments& texts, const process_options& options) {
  const text_list arguments = texts.list();
  reap_detached();
  if (const int error = check_start(arguments, options)) return failure_of_transfer(error);
  child_streams streams;
  if (const int error = streams.prepare(options)) return failure_of_transfer(error);
  process started;
  const std::array<stream*, 3> ends{&started.in_, &started.out_, &started.err_};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (const std::error_code error = adopt_end(streams.parent_end(i), *ends[i])) return failure(error);
  }
  child_preparation preparation(arguments, options);
  result<started_child> child =
      start_child_process(preparation.plan(options, streams.moves()), options.kill_on_destruction);
  if (!child) return failure(child.error());
  started.child_ = std::move(child->owner);
  started.id_ = child->id;
  return started;
}

result<void> process::signal(int number) noexcept {
  if (const int error = signal_child(child_, number)) return failure_of_transfer(error);
  return {};
}

result<void> process::signal_group(int number) noexcept {
  if (const int error = signal_group_of_child(child_, number)) return failure_of_transfer(error);
  return {};
}

task<result<exit_status>> process::terminate(duration grace) {
  const int error = signal_child_and_group(child_, SIGTERM);
  if (error != 0 && error != ESRCH) co_return failure_of_transfer(error);
  result<exit_status> status = co_await within(grace, wait());
  if (status) co_return status;
  signal_child_and_group(child_, SIGKILL);
  if (status.error() != std::errc::timed_out) co_return status;
  co_return co_await wait();
}

std::size_t process::reap_orphans() noexcept { return detail::reap_orphans(); }

}}  // namespace hocket
