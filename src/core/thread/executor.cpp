#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/thread/seam/stealable_queue.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void post(runnable& work) noexcept {
  thread_state& thread = this_thread();
  if (thread.binding.running_on == work.home && thread.binding.ready) return thread.binding.ready->push(work);
  if (thread.binding.pool != work.home) return work.home->post_from_outside(work);
  thread.binding.stealable->push(work);
  if (thread.binding.stealable->should_offer()) [[unlikely]]
    thread.binding.pool->offer();
}

void post_all(executor& home, const runnables& works) noexcept {
  thread_state& thread = this_thread();
  if (thread.binding.running_on == &home && thread.binding.ready) {
    for (std::size_t i = 0; i < works.size(); ++i) thread.binding.ready->push(works[i]);
  } else if (thread.binding.pool == &home) {
    for (std::size_t i = 0; i < works.size(); ++i) thread.binding.stealable->push(works[i]);
    if (thread.binding.stealable->should_offer()) thread.binding.pool->offer();
  } else {
    home.post_all_from_outside(works);
  }
}

}}}  // namespace hocket::detail
