#include <hocket/base/fatal.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/fiber_local.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

fiber_local_node*& current_fiber_locals() {
  fiber_thread& thread = fiber_thread::current();
  return thread.running ? fiber_record::from_block(*thread.running).locals : thread.locals;
}

}}}  // namespace hocket::detail
