// What may be said of a child process when it is started, and how it ended (process.hpp).
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/base/detail/text_list.hpp>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI {

// Where a standard stream of a child process leads. Made by the names of class process: inherit, pipe, null, to_out,
// use().
struct process_stream {
  enum class redirection : std::uint8_t { inherit, pipe, null, to_out, fd };
  redirection redirect = redirection::inherit;
  int fd = -1;
};

// What may be said of a child process.
struct process_options {
  process_stream in{}, out{}, err{};
  std::string_view directory{};      // where it runs; empty: where this process does
  text_list environment{};           // "NAME=value": added to the environment, in place of variables of these names
  bool inherit_environment = true;   // false: the environment is these variables alone
  bool new_group = false;            // a process group of its own: signals of the terminal do not reach it
  bool new_session = false;          // a session of its own, without a terminal
  bool kill_on_destruction = false;  // SIGKILL, if it runs when its process object ends
};
static_assert(detail::owns_nothing<process_options>);

// How a process ended.
class exit_status {
 public:
  exit_status(int code) noexcept : code_(code) {}
  static exit_status from_signal(int signal) noexcept {
    exit_status made(-1);
    made.signal_ = signal;
    return made;
  }

  bool success() const noexcept { return code_ == 0; }
  // The number that it gave to exit(3), 0 to 255; -1: a signal ended it.
  int code() const noexcept { return code_; }
  // The signal that ended it; 0: none did.
  int signal() const noexcept { return signal_; }
  // As shells have it: the code, or 128 and the signal.
  operator int() const noexcept { return signal_ == 0 ? code_ : 128 + signal_; }

 private:
  int code_;
  int signal_ = 0;
};

}}  // namespace hocket
