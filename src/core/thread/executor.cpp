#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/thread/seam/stealable_queue.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void post(runnable& work) noexcept {
  thread_state& here = this_thread();
  if (here.seat.running_on == work.home && here.seat.ready) return here.seat.ready->push(work);
  if (here.seat.pool != work.home) return work.home->post_from_outside(work);
  here.seat.stealable->push(work);
  if (here.seat.stealable->wanted()) [[unlikely]]
    here.seat.pool->offer();
}

void post_all(executor& home, const runnables& works) noexcept {
  thread_state& here = this_thread();
  if (here.seat.running_on == &home && here.seat.ready) {
    for (std::size_t i = 0; i < works.size(); ++i) here.seat.ready->push(works[i]);
  } else if (here.seat.pool == &home) {
    for (std::size_t i = 0; i < works.size(); ++i) here.seat.stealable->push(works[i]);
    if (here.seat.stealable->wanted()) here.seat.pool->offer();
  } else {
    home.post_all_from_outside(works);
  }
}

}}}  // namespace hocket::detail
