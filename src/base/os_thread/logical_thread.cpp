#include <hocket/base/seam/logical_thread.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// Constant-initialised and trivially destructible, like everything that must outlive its thread's other objects.
thread_local constinit logical_thread own;
thread_local constinit logical_thread* continued = nullptr;

struct end_of_thread {
  end_of_thread() noexcept {}
  ~end_of_thread() {
    if (own.at_end) own.at_end();
  }
  logical_thread& arm() noexcept { return own; }
};
thread_local end_of_thread end;

}  // namespace

// Armed before a switch can hand `own` to another stack: a hook may be registered there, which runs here.
logical_thread& this_logical_thread() noexcept {
  logical_thread* current = continued ? continued : &end.arm();
  asm volatile("" : "+r"(current));  // as in core's this_thread()
  return *current;
}

void continue_as(logical_thread& thread) noexcept { continued = &thread; }

}}}  // namespace hocket::detail
