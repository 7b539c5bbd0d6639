#include <hocket/coro/task.hpp>

#include <hocket/core/context.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/coro/detail/eager_promise.hpp>
#include <hocket/coro/detail/fork_group.hpp>

#include "coro/queued_start.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// Whether a parent with a home, a fiber, may continue on this thread nevertheless.
bool migrates_to_here(const coroutine_header& parent) noexcept {
  const scheduled* const strand = scheduled_of(parent.ctx ? parent.ctx->strand() : nullptr);
  return strand && strand->migrates() && this_thread().binding.pool == &strand->home();
}

}  // namespace

task_chain::handle task_chain::start_alone(handle self, handle parent) noexcept {
  continuation.handle = parent;
  continuation.home = current_executor();
  flags = task_flag::parent_homed;
  ctx = &current_context();
  const thread_state& thread = this_thread();
  const std::uint16_t all = thread.eager ? eager_budget : transfer_budget;
  budget = thread.forked_call ? thread.forked_call->budget : all;  // it begins on the stack of the forked call
  // Tasks and fibers await by typed handles, so the parent is foreign, and the coroutine that started it may continue
  // meanwhile. Both stay on this thread, like an eager body and its caller, because their waits share storage.
  if (strand_state* strand = ctx->strand()) {
    strand->pin();
    flags |= task_flag::holds_strand;
  }
  return budget == 0 ? start_later(self) : self;
}

// Without memory the task starts at once, and the stack grows.
task_chain::handle task_chain::start_later(handle self) noexcept {
  budget = transfer_budget;
  return current_executor() && queue_start(self) ? std::noop_coroutine() : self;
}

void task_chain::fork_failed(const void* place, std::exception_ptr error) noexcept {
  fork_group::child_failed(*this, place, std::move(error));
}

task_chain::handle task_chain::end_slowly() noexcept {
  if (flags & (task_flag::forked | task_flag::holds_strand)) [[unlikely]] {
    if (flags & task_flag::forked) return fork_group::ended(*this);
    ctx->strand()->unpin();
  }
  const bool exhausted = budget == 0;
  const handle parent = continuation.handle;
  if (flags & header_flag::parent_has_header) {
    header_of(parent).budget = exhausted ? transfer_budget : static_cast<std::uint16_t>(budget - 1);
  }
  executor* current = current_executor();
  executor* home = continuation.home ? continuation.home : current;
  if (home != current && (flags & header_flag::parent_has_header) && migrates_to_here(header_of(parent)))
    home = current;
  if (!home || (home == current && !exhausted)) return parent;
  reserved |= task_bit::parent_queued;
  home->post_from_outside(continuation);  // now the parent may run and destroy this frame
  return std::noop_coroutine();
}

// --- the owner of a task's exception during the throw

namespace {

struct keeper_of_error {
  struct promise_type : task_chain {
    promise_type() noexcept { reserved = task_bit::keeps_error; }
    keeper_of_error get_return_object() noexcept { return {with_header(handle::from_promise(*this))}; }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept {}

    using handle = std::coroutine_handle<promise_type>;
    std::exception_ptr error;
  };
  std::coroutine_handle<coroutine_header> handle;
};

// Runs only if the task is awaited again.
keeper_of_error make_keeper() {
  fatal(task_awaited_again, task_runs_once);
  co_return;
}

}  // namespace

error_keeper error_keeper::make(std::exception_ptr& error) noexcept try {
  const auto body = make_keeper().handle;
  auto& promise = static_cast<keeper_of_error::promise_type&>(body.promise());
  promise.continuation.handle = std::noop_coroutine();  // so expect_droppable() accepts it
  promise.error = std::move(error);
  return {body, &promise.error};
} catch (const std::bad_alloc&) {
  return {nullptr, nullptr};
}

void* (*const throw_kept)(const std::exception_ptr&) =
    reinterpret_cast<void* (*)(const std::exception_ptr&)>(reinterpret_cast<void (*)()>(&std::rethrow_exception));

void expect_droppable(const coroutine_header& task) noexcept {
  debug_expects(!(task.reserved & (task_bit::start_queued | task_bit::parent_queued)),
                "a task was destroyed that stands in a run queue", "let its executor run it to its end first");
  debug_expects(task.continuation.handle || leaving_by_failure(), "a task was destroyed without being awaited",
                "co_await it (await it in a fiber), or say that it is not wanted: std::move(task).discard()");
}

}}}  // namespace hocket::detail
