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

void post_all(executor& home, const runnables& works) noexcept {
  thread_state& here = this_thread();
  if (here.seat.running_on == &home && here.seat.ready) {
    for (std::size_t i = 0; i < works.size(); ++i) here.seat.ready->push(works[i]);
  } else if (here.seat.pool == &home) {
    for (std::size_t i = 0; i < works.size(); ++i) here.seat.roaming->push(works[i]);
    if (here.seat.roaming->wanted()) here.seat.pool->offer();
  } else {
    home.post_all(works);
  }
}

}  // namespace hocket::inline HOCKET_ABI
