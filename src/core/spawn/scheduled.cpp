#include <hocket/base/error.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/registry.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/core/wait/seam/observed.hpp>
#include <hocket/core/wait/seam/wait_room.hpp>

#include <memory>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The running code: a coroutine, or a thread without one; null for one of several parts of a coroutine.
const void* current_code() noexcept {
  const thread_state& thread = this_thread();
  const context* ctx = thread.ctx;
  if (!ctx || !ctx->coroutine()) return &thread;
  return ctx->strand();
}

}  // namespace

scheduled::scheduled(spawn_target& target, coroutine_kind kind, const spawn_options& options, disposer dispose,
                     const context& maker) noexcept
    : strand_state(target.parent_context(), kind, options.name,
                   deadline_on(target.home(), options.within, options.name.c_str(), options.location), maker,
                   options.location, dispose),
      target_(target) {
  runnable::home = &target.home();
}

// Whether its own deadline, or an outer one, has passed.
bool scheduled::is_late() const noexcept {
  if (timed_out()) return true;
  const timer_service* const timers = home().timers();
  return timers && timers->now() >= deadline();
}

// --- the spawn

bool scheduled::enroll() noexcept {
  std::construct_at(std::addressof(refusal_), target_.enroll(1));
  if (!refusal_) return true;
  ending_ = outcome_kind::refused;
  // ORDER: release, pairs with the load in ended(): the refusal is visible to the owner of the handle.
  joiner_.store(over, std::memory_order_release);
  return false;
}

void scheduled::withdraw() noexcept { target_.leave(); }

void scheduled::launch(std::coroutine_handle<> start) noexcept {
  hocket::detail::post(prepare(start, __builtin_return_address(0)));
}

void scheduled::launch_at(executor& first, std::coroutine_handle<> start) noexcept {
  first.post_from_outside(prepare(start, __builtin_return_address(0)));
}

runnable& scheduled::prepare(std::coroutine_handle<> start, const void* caller) noexcept {
  caller_ = caller;
  handle = start;
  if (observed()) [[unlikely]]
    notify_creation();
  return *this;
}

void scheduled::notify_creation() const noexcept {
  const auto observed = kind() == coroutine_kind::fiber ? observed_kind::fiber : observed_kind::task;
  notify_created(id(), {observed, name(), spawned(), caller_, *this});
}

// --- in a batch

runnable& scheduled::enter_batch(std::coroutine_handle<> start, const void* caller) noexcept {
  if constexpr (debug_checks) batch_owner_.set(current_code());
  return prepare(start, caller);
}

void scheduled::leave_batch(runnable& collected) noexcept {
  static_cast<scheduled&>(collected).batch_owner_.set(nullptr);
}

void scheduled::expect_not_in_own_batch() const noexcept {
  [[maybe_unused]] const void* const holder = batch_owner_.get();
  debug_expects(!holder || holder != current_code(), "a coroutine is awaited by the code that has it in a spawn_batch",
                "it does not begin before the batch is flushed: flush() it first, or end it", name());
}

// Its start finds that it must not run, and ends it.
void scheduled::refuse(runnable& collected, std::error_code why) noexcept {
  auto& self = static_cast<scheduled&>(collected);
  std::construct_at(std::addressof(self.refusal_), why);
  self.ending_ = outcome_kind::refused;
  collected.handle.resume();
}

// --- the run

bool scheduled::begin() noexcept {
  if (ending_ == outcome_kind::refused) [[unlikely]]
    return false;
  thread_state& thread = this_thread();
  begun_ = true;
  thread.ctx = this;
  migrates_ = (kind() == coroutine_kind::task || migrates_) && thread.binding.pool == &home();
  listed_ = thread.binding.running_on->coroutines();
  if (listed_) listed_->add(*this);
  if (own_stop_.killed_so_far()) {
    ending_ = outcome_kind::killed;
    return false;
  }
  if (observed()) [[unlikely]]
    notify_resumed(id());
  return true;
}

void scheduled::post_again(std::coroutine_handle<> parked) noexcept {
  handle = parked;
  hocket::detail::post(*this);
}

void scheduled::store_error() noexcept {
  ::new (static_cast<void*>(std::addressof(error_))) std::exception_ptr(std::current_exception());
}

void scheduled::fail() noexcept {
  try {
    throw;
  } catch (const forced_unwind&) {
    ending_ = outcome_kind::killed;
    return;
  } catch (const hocket::cancelled&) {
    ending_ = timed_out() ? outcome_kind::timed_out : outcome_kind::cancelled;
  } catch (const std::system_error& thrown) {
    ending_ = thrown.code() == std::errc::timed_out && is_late() ? outcome_kind::timed_out : outcome_kind::exception;
    if (ending_ == outcome_kind::exception) store_error();
  } catch (...) {
    ending_ = outcome_kind::exception;
    store_error();
  }
  expect_unwound();
}

void scheduled::release_room() noexcept { wait_room::release(take_room()); }

void scheduled::finish() noexcept {
  if constexpr (debug_checks)
    if (slot()) report_left_slot(*this);
  if (observed()) [[unlikely]]
    notify_destroyed(id());
  if (listed_) listed_->remove(*this);
  if (room_) release_room();
  own_stop_.leave();
  spawn_target& target = target_;
  const bool member = ending_ != outcome_kind::refused;
  if (ending_ == outcome_kind::exception) unhandled_ = target.on_unhandled();
  // ORDER: acq_rel, pairs with the load in ended() and the operations of the joiner in join() and drop_handle(): the
  // ending and the result are visible to them; the waiter and the use of the handle are visible here.
  const std::uintptr_t joiner = joiner_.exchange(over, std::memory_order_acq_rel);
  if (joiner == dropped) {
    if (ending_ == outcome_kind::exception) unhandled_(error_, *this);
    release();
  } else if (joiner > stopped) {
    reinterpret_cast<waiter*>(joiner)->claim_popped().post();
  }
  if (member) target.leave();
}

activity scheduled::state() const noexcept {
  if (ended()) return activity::ended;
  if (!begun_) return activity::unstarted;
  // ORDER: relaxed, pairs with the fetch_add in waits_for_foreign().
  if (foreign_.load(std::memory_order_relaxed)) return activity::waiting_foreign;
  return waits_ && !waits_->over() ? activity::waiting : activity::ready;
}

// --- joining

bool scheduled::join(suspension& wait, waiter& entry) noexcept {
  if (ended()) {
    [[maybe_unused]] bool taken = wait.take_now(entry, *this);
    return false;
  }
  expects(current_context().coroutine() != this, "a coroutine awaits its own end",
          "it would wait for ever: give its join_handle to another, or return instead", name());
  if constexpr (debug_checks) expect_not_in_own_batch();
  entry.enlist_or_stay(wait, *this);
  std::uintptr_t expected = open;
  // ORDER: release, acquire on failure, pairs with the exchange in finish(): it finds the complete waiter, or this side
  // finds the result.
  if (joiner_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&entry), std::memory_order_release,
                                      std::memory_order_acquire))
    return true;
  // ORDER: acquire, pairs with the exchange in finish(): on failure this side finds the result. A found mark belongs
  // to this wait, and relaxed would do (g++ 12 refuses a weaker order for success than for failure).
  if (expected == stopped && joiner_.compare_exchange_strong(expected, open, std::memory_order_acquire)) return false;
  expects(expected == over, "a coroutine is joined by two at once", "await its join_handle in one place", name());
  entry.claim_popped().post();
  return true;
}

// If the wait was committed first and its waiter is not published yet, leaves a mark that keeps join() from publishing.
bool scheduled::detach(waiter& entry) noexcept {
  for (;;) {
    auto expected = reinterpret_cast<std::uintptr_t>(&entry);
    // ORDER: relaxed, pairs with nothing: no party has read the waiter, or will; or finish() has it.
    if (joiner_.compare_exchange_strong(expected, open, std::memory_order_relaxed, std::memory_order_relaxed))
      return true;
    if (expected != open) return false;
    // ORDER: relaxed, pairs with the compare-exchange in join(): a mark.
    if (joiner_.compare_exchange_strong(expected, stopped, std::memory_order_relaxed, std::memory_order_relaxed))
      return false;
  }
}

void scheduled::drop_handle() noexcept {
  std::uintptr_t expected = open;
  // ORDER: release, pairs with the exchange in finish(): the party that releases the object then sees the use of the
  // handle; relaxed on failure: ended() loads again.
  if (!ended() &&
      joiner_.compare_exchange_strong(expected, dropped, std::memory_order_release, std::memory_order_relaxed))
    return;
  expects(ended(), "a join_handle was destroyed while it is awaited", "let it outlive the await", name());
  const bool lost = ending_ == outcome_kind::exception && !taken_;
  if (lost && !leaving_by_failure()) unhandled_(std::move(error_), *this);
  release();
}

}}}  // namespace hocket::detail
