#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/fiber/detail/park.hpp>

#include "fiber/entry.hpp"
#include "fiber/look_ahead.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

control_block* running_fiber() noexcept { return running_fiber(this_thread()); }

void expect_fiber(const control_block* running) noexcept {
  if (!running) {
    expects(
        current_executor() == nullptr && !this_thread().eager, "await was called in a task, or in a job",
        "a task has no stack of its own to wait on: write co_await, or spawn a fiber; nor has a job: spawn what waits; "
        "add the route of a plain HTTP handler with {.run = http::in_fiber}",
        current_context().name());
    return;
  }
  expects((running->header.flags & fiber_flag::scheduled) != 0, "await was called in a raw coroutine",
          "only its owner resumes it: yield to the owner, or spawn a fiber",
          fiber_record::from_block(const_cast<control_block&>(*running)).name);
}

namespace {

constexpr yield_way no_way{nullptr, nullptr};

// The fiber at the front of the queue, if a switch alone resumes it.
control_block* next_for_a_switch(const run_queue& ready, const fiber_thread& thread) noexcept {
  auto* frame = static_cast<frame_head*>(ready.front().address());
  if (!frame || frame->resume != scheduled_entry_points.resume) return nullptr;
  auto* next = reinterpret_cast<control_block*>(frame);
  return (next->header.flags & fiber_flag::at_resume) == 0 && &next->thread() == &thread ? next : nullptr;
}

// The following functions are out of line, so that a yield between few fibers saves no registers for them.

[[gnu::noinline]] yield_way push_slowly(run_queue& ready, control_block& own, const fiber_thread& thread) noexcept {
  return ready.try_push(handle_of(own.head)) ? yield_way{&own, thread.worker} : no_way;
}

[[gnu::noinline]] yield_way back_to_worker(run_queue& ready, control_block& own, const fiber_thread& thread) noexcept {
  if (ready.try_push_below_limit(handle_of(own.head))) [[likely]]
    return {&own, thread.worker};
  return push_slowly(ready, own, thread);
}

[[gnu::noinline]] yield_way after_prefetch(const run_queue& ready, yield_way way) noexcept {
  prefetch_next_fibers(ready);
  return way;
}

}  // namespace

yield_way prepare_yield() noexcept {
  if constexpr (conforming_mode) return no_way;  // the queue holds the proxy
  thread_state& state = this_thread();
  auto* thread = static_cast<fiber_thread*>(slot_of(state, thread_slot::fiber));
  control_block* own = thread ? thread->running : nullptr;
  if (own) expect_no_lock(state);
  if (!own || state.eager || own->head.resume != scheduled_entry_points.resume || !state.binding.ready) return no_way;
  run_queue& ready = *state.binding.ready;
  const bool straight = !switch_annotation::active && state.turn_left != 0 && thread->exceptions->empty();
  control_block* next = straight ? next_for_a_switch(ready, *thread) : nullptr;
  if (!next) return back_to_worker(ready, *own, *thread);
  if (!ready.try_exchange(handle_of(own->head))) return no_way;
  --state.turn_left;
  thread->running = next;
  state.ctx = next->header.ctx;
  const yield_way way{own, std::exchange(next->record, nullptr)};
  return ready.is_large() ? after_prefetch(ready, way) : way;
}

bool suspend_this_stack(void* awaiter, suspend_call suspend) noexcept {
  fiber_thread* thread = fiber_thread::current_if_any();
  if (!thread || !thread->running || this_thread().eager) return false;
  struct erased {
    void* awaiter;
    suspend_call suspend;
  } call{awaiter, suspend};
  park_request request{&call, [](park_request& self, park_request::fiber_handle parked) noexcept {
                         auto& wait = *static_cast<erased*>(self.awaiter);
                         return wait.suspend(wait.awaiter, parked) ? std::coroutine_handle<>{} : parked;
                       }};
  park_fiber(*awaiting_fiber(), &request);
  return true;
}

void rethrow(park_request& request) { std::rethrow_exception(std::move(request.error)); }

}}}  // namespace hocket::detail
