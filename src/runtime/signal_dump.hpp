// Dumps a runtime when the process gets a signal.
//
// A signal handler must not write a dump, because a dump waits for the workers. So the handler counts the signal and
// wakes a thread of each runtime with this option. That thread writes the dump. The first such runtime installs the
// handler, which stays installed.
#pragma once
#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/system_thread.hpp"

namespace hocket { inline namespace HOCKET_ABI {

class runtime;

namespace detail {

class signal_dump {
 public:
  using dump_function = void (*)(runtime& subject, int fd) noexcept;

  // Throws std::system_error if the signal cannot be handled, or the system starts no thread.
  signal_dump(runtime& subject, dump_function dump, const char* name, int signal);
  signal_dump(const signal_dump&) = delete;
  signal_dump& operator=(const signal_dump&) = delete;
  ~signal_dump();

 private:
  void run(const char* name) noexcept;

  runtime& subject_;
  const dump_function dump_;
  signal_count& count_;
  const std::uint32_t first_;
  atomic<bool> over_{false};
  system_thread thread_;
};

}  // namespace detail

}}  // namespace hocket
