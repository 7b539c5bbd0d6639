#include <hocket/core/current.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/run_queue.hpp>

namespace hocket::inline HOCKET_ABI {

void post(runnable& work) noexcept {
  thread_state& here = this_thread();
  if (here.running_on == work.home && here.ready) here.ready->push(work);
  else work.home->post(work);
}

}  // namespace hocket::inline HOCKET_ABI
