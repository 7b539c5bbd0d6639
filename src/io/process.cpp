#include <hocket/base/detail/own_fds.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/unique_fd.hpp>

#include "io/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

constexpr int fd_of_in = 0, fd_of_out = 1, fd_of_err = 2;

// What posix_spawn(3) wants to know, each with its end.
struct spawn_actions {
  spawn_actions() noexcept { error = ::posix_spawn_file_actions_init(&all); }
  spawn_actions(const spawn_actions&) = delete;
  spawn_actions& operator=(const spawn_actions&) = delete;
  ~spawn_actions() { ::posix_spawn_file_actions_destroy(&all); }
  void note(int returned) noexcept {
    if (error == 0) error = returned;
  }
  posix_spawn_file_actions_t all;
  int error;  // the first one
};

struct spawn_attributes {
  explicit spawn_attributes(const process_options& options) noexcept {
    ::posix_spawnattr_init(&all);
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigmask(&all, &none);
    ::posix_spawnattr_setsigdefault(&all, &defaults);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (options.new_session) flags |= POSIX_SPAWN_SETSID;
    else if (options.new_group) flags |= POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(&all, static_cast<short>(flags));
  }
  spawn_attributes(const spawn_attributes&) = delete;
  spawn_attributes& operator=(const spawn_attributes&) = delete;
  ~spawn_attributes() { ::posix_spawnattr_destroy(&all); }
  posix_spawnattr_t all;
};

// A standard stream of the child to be.
struct planned_stream {
  unique_fd own;     // the child's end, closed here once the child has it
  int source = -1;   // what the child gets; -1: what it inherits
  unique_fd parent;  // our end of a pipe
};

// Numbers below 3 are replaced in the child one by one, so no source may be one of them. An error number, or 0.
int move_above_standard(planned_stream& one) noexcept {
  if (one.source < 0 || one.source > 2) return 0;
  const int copy = ::fcntl(one.source, F_DUPFD_CLOEXEC, first_own_fd);
  if (copy < 0) return errno;
  one.own = unique_fd(copy);
  one.source = copy;
  return 0;
}

// Our end does not block. The child's does: programs expect that.
int plan_pipe(planned_stream& one, bool child_reads) noexcept {
  std::array<int, 2> ends{};
  if (own_fds(::pipe2(ends.data(), O_CLOEXEC), ends) != 0) return errno;
  one.own = unique_fd(child_reads ? ends[0] : ends[1]);
  one.parent = unique_fd(child_reads ? ends[1] : ends[0]);
  one.source = one.own.native_handle();
  return ::fcntl(one.parent.native_handle(), F_SETFL, O_NONBLOCK | (child_reads ? O_WRONLY : O_RDONLY)) == 0 ? 0
                                                                                                             : errno;
}

int plan_null(planned_stream& one) noexcept {
  const int number = own_fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (number < 0) return errno;
  one.own = unique_fd(number);
  one.source = number;
  return 0;
}

// An error number, or 0.
int plan(planned_stream& one, const process_stream& wanted, int number) noexcept {
  int error = 0;
  switch (wanted.redirect) {
    case process_stream::redirection::inherit: return 0;
    case process_stream::redirection::to_out: return number == fd_of_err ? 0 : EINVAL;
    case process_stream::redirection::pipe: error = plan_pipe(one, number == fd_of_in); break;
    case process_stream::redirection::null: error = plan_null(one); break;
    case process_stream::redirection::fd:
      if (::fcntl(wanted.fd, F_GETFD) < 0) return errno;
      one.source = wanted.fd;
      break;
  }
  return error != 0 ? error : move_above_standard(one);
}

struct plan_of_streams {
  std::array<planned_stream, 3> all;

  int make(const process_options& options) noexcept {
    const std::array<const process_stream*, 3> wanted{&options.in, &options.out, &options.err};
    for (int i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (const int error = plan(all[at], *wanted[at], i)) return error;
    }
    return 0;
  }
  void describe(spawn_actions& to) const noexcept {
    for (int i = 0; i < 3; ++i) {
      const int source = all[static_cast<std::size_t>(i)].source;
      if (source >= 0) to.note(::posix_spawn_file_actions_adddup2(&to.all, source, i));
    }
  }
};

// --- texts

// As execve(2) wants them.
class texts_for_exec {
 public:
  void add(std::string_view text) { all_.emplace_back(text); }
  char* const* data() {
    for (std::string& one : all_) pointers_.push_back(one.data());
    pointers_.push_back(nullptr);
    return pointers_.data();
  }

 private:
  std::vector<std::string> all_;
  std::vector<char*> pointers_;
};

std::string_view name_of(std::string_view variable) noexcept { return variable.substr(0, variable.find('=')); }

bool has_variable(const text_list& among, std::string_view name) noexcept {
  for (std::size_t i = 0; i < among.size(); ++i) {
    if (name_of(among[i]) == name) return true;
  }
  return false;
}

bool are_valid(const text_list& arguments, const process_options& options) noexcept {
  if (arguments.empty() || arguments[0].empty() || options.directory.find('\0') != std::string_view::npos) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].find('\0') != std::string_view::npos) return false;
  }
  for (std::size_t i = 0; i < options.environment.size(); ++i) {
    const std::string_view one = options.environment[i];
    const std::size_t end_of_name = one.find('=');
    if (end_of_name == 0 || end_of_name == std::string_view::npos || one.find('\0') != std::string_view::npos)
      return false;
  }
  return true;
}

texts_for_exec copy_of(const text_list& texts) {
  texts_for_exec copy;
  for (std::size_t i = 0; i < texts.size(); ++i) copy.add(texts[i]);
  return copy;
}

texts_for_exec environment_of(const process_options& options) {
  texts_for_exec all = copy_of(options.environment);
  for (char** one = environ; options.inherit_environment && one && *one; ++one) {
    if (!has_variable(options.environment, name_of(*one))) all.add(*one);
  }
  return all;
}

// --- the start

bool ignores_ends_of_children() noexcept {
  struct sigaction present{};
  ::sigaction(SIGCHLD, nullptr, &present);
  return present.sa_handler == SIG_IGN || (present.sa_flags & SA_NOCLDWAIT) != 0;
}

struct spawned {
  pid_t id = -1;
  int error = 0;
};

void describe(spawn_actions& to, const process_options& options, const plan_of_streams& streams) {
  streams.describe(to);
  if (options.err.redirect == process_stream::redirection::to_out)
    to.note(::posix_spawn_file_actions_adddup2(&to.all, fd_of_out, fd_of_err));
  if (!options.directory.empty())
    to.note(::posix_spawn_file_actions_addchdir_np(&to.all, std::string(options.directory).c_str()));
}

spawned spawn_program(const text_list& arguments, const process_options& options, const plan_of_streams& streams) {
  texts_for_exec words = copy_of(arguments), variables = environment_of(options);
  spawn_actions actions;
  if (actions.error == 0) describe(actions, options, streams);
  if (actions.error != 0) return {-1, actions.error};
  const spawn_attributes attributes(options);
  char* const* const vector = words.data();
  spawned made;
  made.error = ::posix_spawnp(&made.id, vector[0], &actions.all, &attributes.all, vector, variables.data());
  return made;
}

}  // namespace

result<process> process::start(const text_arguments& texts, const process_options& options) {
  const text_list arguments = texts.list();
  reap_orphans();
  if (!are_valid(arguments, options)) return failure_of_transfer(EINVAL);
  if (!has_pidfds()) return failure_of_transfer(ENOSYS);
  if (ignores_ends_of_children()) return failure_of_transfer(ECHILD);
  plan_of_streams streams;
  if (const int error = streams.make(options)) return failure_of_transfer(error);
  process made;
  const std::array<stream*, 3> ours{&made.in_, &made.out_, &made.err_};
  for (std::size_t i = 0; i < ours.size(); ++i) {
    unique_fd& end = streams.all[i].parent;
    if (!end) continue;
    result<descriptor> at = descriptor_access::take_over(end.native_handle(), descriptor_kind::other);
    if (!at) return failure(at.error());
    end.release();
    *ours[i] = stream(std::move(*at));
  }
  const spawned program = spawn_program(arguments, options, streams);
  if (program.error != 0) return failure_of_transfer(program.error);
  result<descriptor> child = adopt_child(program.id, options.kill_on_destruction);
  if (!child) return failure(child.error());
  made.child_ = std::move(*child);
  made.id_ = program.id;
  return made;
}

result<void> process::signal(int number) noexcept {
  if (const int error = signal_child(child_, number)) return failure_of_transfer(error);
  return {};
}

}}  // namespace hocket
