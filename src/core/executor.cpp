#include <hocket/core/current.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/run_queue.hpp>
#include <hocket/core/stealable_queue.hpp>

namespace hocket::inline HOCKET_ABI {

void post(runnable& work) noexcept {
  thread_state& here = this_thread();
  if (here.seat.running_on == work.home && here.seat.ready) return here.seat.ready->push(work);
  if (here.seat.pool != work.home) return work.home->post(work);
  here.seat.roaming->push(work);
  if (here.seat.roaming->wanted()) [[unlikely]]
    here.seat.pool->offer();
}

}  // namespace hocket::inline HOCKET_ABI
