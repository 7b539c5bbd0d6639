#include "caller.hpp"

#include <hocket/base/fatal.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/time/sleep.hpp>

#include "counting.hpp"
#include "mutexes.hpp"
#include "scope_access.hpp"
#include "signal_scope.hpp"
#include "watched_fds.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

using hocket::detail::expects;
using hocket::detail::read_this_thread;
using hocket::detail::thread_state;
using hocket::detail::wait_end;

namespace {

bool is_stopped() noexcept {
  const stop_source* const stop = current_context().stop();
  return stop && stop->requested() != stop_level::none;
}
[[gnu::always_inline]] inline bool is_killed() noexcept {
  const auto* const fiber = static_cast<const context*>(read_this_thread<offsetof(thread_state, ctx)>());
  const stop_source* const stop = fiber->stop();
  return stop && stop->killed();
}

// A wait was ended by a deadline: of the fiber, of hook::within(), or of a manager, which stops the fiber for it. In
// the last case the deadline of the context has not passed, so no limit is reported.
wait_result end_by_deadline() noexcept {
  if (const time_point deadline = current_context().deadline(); deadline <= now())
    scope_access::report_deadline(deadline);
  errno = ETIMEDOUT;
  return wait_result::ended;
}

wait_result refuse_to_wait() noexcept {
  errno = ECANCELED;
  return wait_result::ended;
}

// Errors of the descriptor itself. After any other error its call has no answer: without memory, for example.
bool is_of_descriptor(int error) noexcept { return error == EBADF || error == EPERM; }

// Translates the error of an awaited operation. If the call's own limit has passed, then the fiber may have been
// stopped since: that ends its next wait. If a wait was cancelled without a stop, then stop_polling() ended it: the fd
// was closed.
wait_result failed(std::error_code error, time_point limit) noexcept {
  if (error == std::errc::timed_out) {
    const bool is_own_limit = limit <= now() && limit <= current_context().deadline();
    return is_own_limit ? wait_result::late : end_by_deadline();
  }
  if (error == std::errc::operation_canceled) errno = is_stopped() ? ECANCELED : EBADF;
  else errno = error.value();
  return is_of_descriptor(errno) ? wait_result::failed : wait_result::ended;
}

// Awaits on a stack with C frames: no exception may pass them.
template <class Operation>
wait_result await_in_c(Operation&& operation, time_point limit) noexcept {
  count(counted::waits);
  try {
    const auto result = await(std::forward<Operation>(operation).until(limit).reporting_kill());
    return result ? wait_result::ready : failed(result.error(), limit);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;  // the call has no answer
    return wait_result::ended;
  }
}

// A call on the pool. A kill is reported; a call that has begun is waited for.
struct pool_job : hocket::detail::blocking_job {
  void (*call)(void* with);
  void* with;
};

}  // namespace

time_point now() noexcept { return hocket::detail::time_here(); }

bool only_tries() noexcept {
  return scope_access::only_tries(scope_access::innermost()) || in_signal_handler() ||
         (std::uncaught_exceptions() != 0 && is_killed());
}

bool may_park_now() noexcept {
  const scope* const in = scope_access::find(hocket::detail::running_fiber_context());
  return in && scope_access::may_park(*in);
}

constinit call_seam at_each_call = nullptr;

// Inline: each hooked call begins here, in one of two functions.
[[gnu::always_inline]] inline bool begin_call() noexcept {
  count(counted::calls);
  if (at_each_call) at_each_call();
  if (is_killed() && std::uncaught_exceptions() == 0) {  // destructors may still send
    errno = ECANCELED;
    return false;
  }
  if (!hocket::detail::spend_budget<1>() || only_tries()) return true;
  const wait_end ended = hocket::detail::pause_fiber(stop_level::none, time_point::max().time_since_epoch().count());
  if (ended == wait_end::none) return true;
  if (ended == wait_end::timed_out) static_cast<void>(end_by_deadline());
  else errno = ECANCELED;
  return false;
}

bool may_begin() noexcept { return begin_call(); }

bool may_begin(int fd) noexcept {
  if (begin_call()) [[likely]]
    return !is_refused(fd);
  abandon(fd, last_close());
  return false;
}

wait_result wait_for(int fd, short events, time_point limit) noexcept {
  if (only_tries()) return refuse_to_wait();
  const watched_fd mark(fd);
  return await_in_c(primitive::operation<hocket::detail::readiness_operation>(std::in_place, {}, fd, events), limit);
}

wait_result wait_for(std::span<pollfd> fds, time_point limit) noexcept {
  if (fds.empty()) {
    const wait_result end = wait_until(limit);
    return end == wait_result::ready ? wait_result::late : end;
  }
  if (only_tries()) return refuse_to_wait();
  const watched_fds mark(fds);
  return await_in_c(poll_fds(fds), limit);
}

wait_result wait_until(time_point limit) noexcept {
  if (only_tries()) return refuse_to_wait();
  if (limit == time_point::max()) return await_in_c(sleep_until(time_point::max()), limit);
  return await_in_c(sleep_until(limit), time_point::max());
}

bool wait_until_set(event& awaited) noexcept {
  return await_in_c(awaited.wait(), time_point::max()) == wait_result::ready;
}

bool run_on_pool(void (*run)(void* with), void* with) noexcept {
  if (only_tries() || hocket::detail::runs_on_copied_stack()) {
    run(with);
    return true;
  }
  count(counted::pooled);
  pool_job job{{[](hocket::detail::blocking_job& self) noexcept {
                 auto& call = static_cast<pool_job&>(self);
                 call.call(call.with);
               }},
               run,
               with};
  using operation = primitive::operation<hocket::detail::blocking_operation>;
  for (;;) {
    const wait_result end =
        await_in_c(operation(std::in_place, {}, blocking_pool::process_pool(), &job), time_point::max());
    if (end == wait_result::ready) return true;
    if (errno != EAGAIN) return false;
    job.refusal = {};  // the pool's queue is full
    if (wait_until(deadline_after(now(), std::chrono::milliseconds(5))) != wait_result::ready) return false;
  }
}

// --- limits

namespace detail {

namespace {

// The inheritance of the running code, with `limit` as one deadline more.
inheritance limited(time_point limit) noexcept {
  const context& ctx = current_context();
  return {ctx.stop(), std::min(ctx.deadline(), limit), ctx.bindings()};
}

}  // namespace

limit_block::limit_block(duration limit) : limit_block(deadline_after(hook::now(), limit)) {}
limit_block::limit_block(time_point limit) : block_(limited(limit)) { scope_access::set_limit(scope_, limit); }

bool limit_block::has_ended_a_wait() const noexcept { return scope_access::has_ended_a_wait(scope_); }

}  // namespace detail

// --- scopes

constexpr hocket::detail::slot_kind scope_access::kind{.name = "hook::scope"};

scope::scope(const options& scope_options) : coroutine_slot(scope_access::kind) {
  if (!scope_access::expect_fiber()) return;
  const scope* const outer = scope_access::outer(*this);
  trying_ = outer ? outer->trying_ : 0;
  mutexes_ = scope_options.mutexes || (outer && outer->mutexes_);
  may_park_ = scope_options.may_park || !outer ? scope_options.may_park : outer->may_park_;
  if (scope_options.mutexes) hook_mutexes();
}

bool scope_access::expect_fiber() noexcept {
  const char* const raw = hocket::detail::running_raw_coroutine();
  expects(raw == nullptr, "a hook::scope in a raw coroutine",
          "only its owner resumes it: spawn a fiber for code that makes blocking calls", raw);
  if (current_fiber()) return true;
  expects(current_executor() == nullptr, "a hook::scope in a task, or in a job",
          "a task has no stack to park: spawn a fiber, or call the client by blocking()", current_context().name());
  return false;
}

void scope_access::unhook() noexcept {
  for (scope* in = find(current_fiber()); in; in = outer(*in))
    in->may_park_before_fork_ = std::exchange(in->may_park_, &never);
}

void scope_access::hook_again() noexcept {
  for (scope* in = find(current_fiber()); in; in = outer(*in)) in->may_park_ = in->may_park_before_fork_;
}

void scope_access::report_deadline(time_point deadline) noexcept {
  if (deadline == time_point::max()) return;
  for (scope* current = &innermost(); current; current = outer(*current))
    if (current->limit_ == deadline) current->limit_has_ended_a_wait_ = true;
}

}}}  // namespace hocket::hook
