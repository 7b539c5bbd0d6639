#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/coro/detail/when_group.hpp>

#include <algorithm>
#include <cstdio>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool when_group::suspend(std::coroutine_handle<> parent, std::size_t children,
                         void (*begin_all)(when_group& self) noexcept) {
  thread_state& thread = this_thread();
  context* const outer = thread.ctx;
  context& above = current_context();
  const std::source_location location = location_of(options_.at);
  if (strand_state* self = above.strand()) self->expect_no_unwinding(location);
  expects(thread.binding.running_on != nullptr, "a group was awaited outside of any executor",
          "await it in a coroutine that was spawned, or sync_wait for it", nullptr, location);
  const time_point end = deadline_on(*thread.binding.running_on, options_.within, "a group of awaitables", location);
  context_ = context::child_beside_others(above, {.stop = &stop_, .deadline = std::min(options_.until, end)}, location);
  wait_.arm(parent, wait_options(options_.at, stop_level::kill));
  entry_.enlist(wait_, *this);
  // ORDER: relaxed, pairs with nothing: no other thread has the group yet.
  pending_.store(children + 1, std::memory_order_relaxed);
  if (stop_source* stops = above.stop()) link_.emplace(*stops, stop_);
  if (needed() == 0) stop_.request(stop_level::cancel);
  thread.ctx = context_.get();
  begin_all(*this);
  thread.ctx = outer;
  leave();
  return wait_.commit();
}

void when_group::finish() {
  [[maybe_unused]] const wait_end end = wait_.finish();
  link_.reset();
  // ORDER: relaxed, pairs with nothing: the grant of the wait orders it after the ends of the children.
  if (lost_.load(std::memory_order_relaxed)) static_cast<void>(failure_of(wait_end::killed));
}

bool when_group::wants(when_frame& child) noexcept {
  if (enough_ == never) return true;
  if (decided()) return false;
  if (enough_ == at_failure) return true;
  take_place(child);
  return child.rank < needed();
}

void when_group::take_place(when_frame& child) noexcept {
  if (child.rank != when_frame::unplaced) return;
  const bool is_exclusive = excludes_attempts();
  if (is_exclusive) mutex_.lock();
  // ORDER: relaxed, pairs with nothing: only the order of these counts.
  child.rank = ended_.fetch_add(1, std::memory_order_relaxed);
  if (is_exclusive) mutex_.unlock();
}

bool when_group::enter_attempt() noexcept {
  mutex_.lock();
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  if (ended_.load(std::memory_order_relaxed) < needed()) return true;
  mutex_.unlock();
  return false;
}

void when_group::leave_attempt(when_frame& child, bool succeeded) noexcept {
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  if (succeeded) child.rank = ended_.fetch_add(1, std::memory_order_relaxed);
  mutex_.unlock();
}

void when_group::report_lost_exception(when_frame& child) noexcept {
  if (enough_ >= at_failure) return;
  take_place(child);
  if (child.rank < needed()) return;
  char text[256];
  try {
    throw;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::timed_out) return;
    std::snprintf(text, sizeof text, "an exception is lost: what a loser of a group threw: %s", error.what());
  } catch (const std::exception& error) {
    std::snprintf(text, sizeof text, "an exception is lost: what a loser of a group threw: %s", error.what());
  } catch (...) {
    std::snprintf(text, sizeof text, "an exception is lost: what a loser of a group threw (no std::exception)");
  }
  notice(text);
}

void when_group::ended(when_frame& child, outcome_kind kind) noexcept {
  // ORDER: relaxed, pairs with the load in finish(): the fetch_sub in leave() follows.
  if (kind == outcome_kind::killed) lost_.store(true, std::memory_order_relaxed);
  if (enough_ < at_failure) {
    take_place(child);
    if (child.rank + 1 == needed()) stop_.request(stop_level::cancel);
  } else if (enough_ == at_failure && kind != outcome_kind::value) {
    when_frame* none = nullptr;
    // ORDER: relaxed, pairs with the load in first_failure(): the fetch_sub in leave() follows.
    if (failed_.compare_exchange_strong(none, &child, std::memory_order_relaxed, std::memory_order_relaxed))
      stop_.request(stop_level::cancel);
  }
  leave();
}

bool is_time_out(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::system_error& thrown) {
    return thrown.code() == std::errc::timed_out;
  } catch (...) {
    return false;
  }
}

void when_group::leave() noexcept {
  // ORDER: acq_rel, pairs with itself: the last child sees the results of all children, for the parent.
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) entry_.claim_popped().post();
}

}}}  // namespace hocket::detail
