#include "runtime/signal_dump.hpp"

#include <hocket/core/thread/seam/current.hpp>

#include "runtime/platform/thread_name.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

signal_dump::signal_dump(runtime& subject, dump_function dump, const char* name, int signal)
    : subject_(subject),
      dump_(dump),
      count_(signal_count::for_signal(signal)),
      first_(count_.present()),
      thread_([this, name] { run(name); }) {}

signal_dump::~signal_dump() {
  // ORDER: relaxed, pairs with the load in run(): the change of the count publishes it.
  over_.store(true, std::memory_order_relaxed);
  count_.wake();
  join(thread_);
}

void signal_dump::run(const char* name) noexcept {
  constexpr int standard_error = 2;
  const exit_hook_scope ending;
  name_this_thread(name, "dump");
  set_mask_of_library_thread();
  std::uint32_t seen = first_;
  // ORDER: relaxed, pairs with the store in the destructor: the change of the count publishes it.
  while (!over_.load(std::memory_order_relaxed)) {
    const std::uint32_t now = count_.wait(seen);
    if (signal_count::counted(seen, now)) dump_(subject_, standard_error);
    seen = now;
  }
}

}}}  // namespace hocket::detail
