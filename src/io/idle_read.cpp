// What a read between two messages tells the lists of its server.
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/io/detail/borrow_operation.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Before the waiter is linked: an eviction that comes in between finds the read by its edge.
void borrow_operation::begin_idle() noexcept {
  open_descriptor& record = side->record();
  if (record.family() == 0) return;
  idle = 2;
  record.set_idle_since(idle_time(time_here()));
}

void borrow_operation::end_idle() noexcept {
  idle = 1;
  open_descriptor& record = side->record();
  if (record.generation() == generation) record.set_idle_since(0);
}

}}}  // namespace hocket::detail
