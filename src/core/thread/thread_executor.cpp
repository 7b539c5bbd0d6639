#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/driver.hpp>
#include <hocket/core/thread/seam/thread_executor.hpp>

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The driver of a plain thread, until the thread ends.
struct thread_driver : thread_exit_hook {
  driver_slot slot{{steady_clock(), true}, "a thread", nullptr};
};

// The value of the slot of a thread that has ended.
constinit char ended = 0;

thread_driver* own_driver() noexcept {
  void* const found = in_current_slot<thread_slot::driver>();
  return found == &ended ? nullptr : static_cast<thread_driver*>(found);
}

void end_driver(thread_exit_hook& self) noexcept {
  set_current_slot(thread_slot::driver, &ended);
  delete static_cast<thread_driver*>(&self);
}

// Returns null if it cannot be created.
thread_driver* make_place() noexcept {
  if (in_current_slot<thread_slot::driver>() == &ended) return nullptr;
  auto* created = new (std::nothrow) thread_driver{{&end_driver}};
  if (!created) return nullptr;
  if (!at_thread_exit(*created)) {
    delete created;
    return nullptr;
  }
  set_current_slot(thread_slot::driver, created);
  return created;
}

}  // namespace

thread_executor::thread_executor() noexcept : drivers_(own_driver() ? &own_driver()->slot : nullptr) {
  if (!drivers_) return;
  drivers_->leave_to_parent();
  if (driver* current = drivers_->current()) inbox_.set_parker(*current);
}

driver_access thread_executor::drivers() noexcept {
  if (!drivers_) {
    if (thread_driver* own = make_place()) drivers_ = &own->slot;
  }
  return {drivers_, &inbox_};
}

runnable* thread_executor::take() noexcept {
  for (;;) {
    if (drivers_) drivers_->poll_in_turn();
    const bool more = drivers_ && drivers_->has_more();
    if (!more) timers_.fire_due();
    if (runnable* first = inbox_.take()) return first;
    if (more) continue;
    if (drivers_) drivers_->expect_same_process();
    inbox_.sleep(timers_.earliest());
    if (drivers_) drivers_->poll_soon();
  }
}

void thread_executor::run_until_signal() noexcept {
  context* const outside = this_thread().ctx;
  running_scope running({this}, outside);
  for (bool signalled = false; !signalled;) {
    for (runnable* work = take(); work;) {
      runnable* next = work->next;
      this_thread().ctx = outside;
      if (work->handle) work->handle.resume();
      else signalled = true;
      work = next;
    }
  }
}

}}}  // namespace hocket::detail
