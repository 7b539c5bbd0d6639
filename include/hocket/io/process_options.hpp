// What may be said of a child process when it is started, and how it ended (process.hpp).
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// A list of texts that the caller owns: a vector of strings, a span of string_views or of const char*. {"ls", "-l"} is
// one for the expression of the call alone, so such a list has no name.
class text_list {
 public:
  constexpr text_list() noexcept = default;
  constexpr text_list(std::initializer_list<std::string_view> texts) noexcept
      : first_(texts.begin()), size_(texts.size()), at_(&text_at<std::string_view>) {}
  template <class R>
    requires requires(const R& range) {
      std::string_view(*std::data(range));
      std::size(range);
    }
  constexpr text_list(const R& range) noexcept
      : first_(std::data(range)),
        size_(std::size(range)),
        at_(&text_at<std::remove_cvref_t<decltype(*std::data(range))>>) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::string_view operator[](std::size_t index) const noexcept { return at_(first_, index); }

 private:
  template <class Text>
  static std::string_view text_at(const void* first, std::size_t index) noexcept {
    return std::string_view(static_cast<const Text*>(first)[index]);
  }

  const void* first_ = nullptr;
  std::size_t size_ = 0;
  std::string_view (*at_)(const void*, std::size_t) noexcept = nullptr;
};

// Where a standard stream of a child process leads. Made by the names of class process: inherit, pipe, null, to_out,
// use().
struct process_stream {
  enum class kind : std::uint8_t { inherit, pipe, null, to_out, number };
  kind is = kind::inherit;
  int number = -1;
};

// What may be said of a child process.
struct process_options {
  process_stream in{}, out{}, err{};
  const char* directory = nullptr;  // where it runs; null: where this process does
  std::vector<std::string>
      environment{};                 // "NAME=value": added to the environment, in place of variables of these names
  bool inherit_environment = true;   // false: the environment is these variables alone
  bool new_group = false;            // a process group of its own: signals of the terminal do not reach it
  bool new_session = false;          // a session of its own, without a terminal
  bool kill_on_destruction = false;  // SIGKILL, if it runs when its process object ends
};

// How a process ended.
class exit_status {
 public:
  exit_status(int code) noexcept : code_(code) {}
  static exit_status of_signal(int signal) noexcept {
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
