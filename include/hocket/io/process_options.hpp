// Options and exit status of a child process (process.hpp).
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/base/detail/text_list.hpp>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

// The redirection of a standard stream of a child process. Use the names of class process: inherit, pipe, null, to_out,
// use_fd().
struct process_stream {
  enum class redirection : std::uint8_t { inherit, pipe, null, to_out, fd };
  redirection redirect = redirection::inherit;
  int fd = -1;
};

// Options for process::start().
struct process_options {
  process_stream in{}, out{}, err{};
  std::string_view directory{};      // the working directory; empty: the directory of this process
  text_list environment{};           // "NAME=value": added to the environment, replaces variables of these names
  bool inherit_environment = true;   // false: the environment has these variables alone
  bool new_group = false;            // a process group of its own: signals of the terminal do not reach it
  bool new_session = false;          // a session of its own, without a terminal
  bool kill_on_destruction = false;  // SIGKILL, if it runs when its process object is destroyed
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
