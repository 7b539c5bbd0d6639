#include "fiber/terminate.hpp"

#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>

#include <cstdlib>
#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

std::terminate_handler before = nullptr;

[[noreturn]] void handler() {
  fiber_thread* thread = fiber_thread::current_if_any();
  control_block* running = thread ? thread->running : nullptr;
  if (running && running->header.flags & fiber_flag::unwinding)
    fatal("unwinding a destroyed coroutine met a function that lets no exception pass",
          "where it suspends, no noexcept function and no C code may be on its stack; and no destructor may throw",
          fiber_record::from_block(*running).name);
  strand_state* killed = current_context().strand();
  if (killed && killed->unwinding())
    fatal("unwinding a killed coroutine met a function that lets no exception pass",
          "where it waits, no noexcept function and no C code may be on its stack; and no destructor may throw",
          killed->name(), killed->spawned());
  if (before) before();
  std::abort();
}

}  // namespace

void explain_terminate() noexcept {
  static const bool installed = (before = std::set_terminate(&handler), true);
  static_cast<void>(installed);
}

}}}  // namespace hocket::detail
