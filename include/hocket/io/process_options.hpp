// Options and exit status of a child process (process.hpp).
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/base/seam/text_list.hpp>
#include <cstdint>
#include <span>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

// The redirection of a standard stream of a child process. Use the names of class process: inherit, pipe, null, to_out,
// use_fd().
struct process_stream {
  enum class redirection : std::uint8_t { inherit, pipe, null, to_out, fd };
  redirection redirect = redirection::inherit;
  int fd = -1;
};

// A further fd of a child process: `fd` of this process, which stays open during start(), by the number `number`, at
// least 3, in the child.
struct process_fd {
  int number = -1;
  int fd = -1;
};
static_assert(detail::owns_nothing<process_fd>);

// A limit of a child process, as of setrlimit(2): RLIMIT_NOFILE, RLIMIT_AS, ...
struct resource_limit {
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};
  int resource = -1;
  std::uint64_t soft = unlimited;
  std::uint64_t hard = unlimited;
};
static_assert(detail::owns_nothing<resource_limit>);

// Options for process::start(). Lists refer to arrays that have a name.
struct process_options {
  process_stream in{}, out{}, err{};
  std::span<const process_fd> fds{};        // further fds
  std::string_view argv0{};                 // the name that the program gets; empty: the first argument
  std::string_view directory{};             // the working directory; empty: the directory of this process
  text_list environment{};                  // "NAME=value": added to the environment, replaces variables of these names
  bool inherit_environment = true;          // false: the environment has these variables alone
  bool new_group = false;                   // a process group of its own: signals of the terminal do not reach it
  bool new_session = false;                 // a session of its own, without a terminal, with a group of its own
  bool kill_on_destruction = false;         // SIGKILL to the child, or its own group, when its object is destroyed
  std::int64_t user = -1, group = -1;       // ids that the child gets for good; -1: the ids of this process
  std::span<const std::uint32_t> groups{};  // supplementary groups; none: see process.hpp
  int umask = -1;                           // -1: the umask of this process
  std::span<const resource_limit> limits{};  // the other limits are inherited
  std::span<const int> ignored_signals{};    // beside the signals that this process ignores
};
static_assert(detail::owns_nothing<process_options>);

// How a process ended.
class exit_status {
 public:
  exit_status(int code) noexcept : code_(code) {}
  static exit_status from_signal(int signal) noexcept {
    exit_status status(-1);
    status.signal_ = signal;
    return status;
  }

  bool success() const noexcept { return code_ == 0; }
  // The argument of exit(3), 0 to 255; -1: a signal ended the process.
  int code() const noexcept { return code_; }
  // The signal that ended the process; 0: none.
  int signal() const noexcept { return signal_; }
  // As in shells: the code, or 128 plus the signal.
  operator int() const noexcept { return signal_ == 0 ? code_ : 128 + signal_; }

 private:
  int code_;
  int signal_ = 0;
};

}}  // namespace hocket
