#include <hocket/coro/shared_task.hpp>

#include <hocket/core/sync_wait.hpp>

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- the target of the body

shared_run::shared_run(spawn_target& target, std::coroutine_handle<> frame) noexcept
    : scheduled(
          target, coroutine_kind::task, {.location = {}},
          [](context& self) noexcept { static_cast<shared_run&>(self).frame_.destroy(); }, target.parent_context()),
      frame_(frame) {}

std::error_code lone_target::enroll(std::size_t count) noexcept {
  for (std::size_t i = 0; body_ && i < count; ++i) body_->retain();
  // ORDER: relaxed, pairs with nothing: the body, or the code that it has spawned, keeps the count above zero.
  live_.fetch_add(count, std::memory_order_relaxed);
  return {};
}

void lone_target::leave() noexcept {
  shared_run* const body = body_;
  // ORDER: acq_rel, pairs with the fetch_sub of the others in leave(): the last one sees the writes of the others.
  if (live_.fetch_sub(1, std::memory_order_acq_rel) == 1 && signal_.home) signal_.home->post_from_outside(signal_);
  if (body) body->release();
}

shared_state::~shared_state() {
  // ORDER: relaxed, pairs with nothing: no other thread has the frame.
  if (word_.load(std::memory_order_relaxed) != idle) run().~shared_run();
}

bool shared_state::claim_start() noexcept {
  locked guard(mutex_);
  std::uint32_t expected = idle;
  // ORDER: relaxed, pairs with nothing: the word leaves `idle` under the mutex; the exchange in wake_all() publishes
  // the result.
  return word_.compare_exchange_strong(expected, started, std::memory_order_relaxed, std::memory_order_relaxed);
}

void shared_state::start(spawn_target& target) noexcept {
  if (claim_start()) launch(target);
}

void shared_state::start(executor& home) noexcept {
  if (claim_start()) launch(home);
}

void shared_state::launch(executor& home) noexcept { launch(home.target() ? *home.target() : lone_.emplace(home)); }

void shared_state::launch(spawn_target& target) noexcept {
  auto* body = ::new (static_cast<void*>(run_)) shared_run(target, frame_);
  header_.ctx = body;
  if (lone_) lone_->belongs_to(*body);
  if (body->enroll()) body->launch(frame_);
  else wake_all();
}

// A plain thread starts the body: it runs the body and all its spawns to their ends.
void shared_state::run_here() noexcept {
  thread_executor local_executor;
  lone_.emplace(local_executor).signal_at_end();
  launch(*lone_);
  local_executor.run_until_signal();
}

// --- the body

void shared_state::enter() {
  if (!run().begin()) throw_unwinding();
}

// A handle or wait that reads `finished` receives or drops the exception. So `finished` is stored after the end of the
// run. The reference keeps the frame until all waiters are woken.
void shared_state::finish() noexcept {
  shared_run& body = run();
  body.retain();
  body.finish();
  wake_all();
  body.release();
}

void shared_state::wake_all() noexcept {
  grants woken;
  {
    locked guard(mutex_);
    // ORDER: release, pairs with the load in ended(): the result is visible.
    word_.exchange(finished, std::memory_order_release);
    waiters_.claim_all(woken);
  }
  woken.post();
}

// --- waits

// Compares the address only: another thread may be constructing the run.
void shared_state::expect_other() const noexcept {
  const void* self = current_context().coroutine();
  expects(self != run_, "a shared task awaits itself", "it would wait for ever: hand the value on inside of it");
}

bool shared_state::try_now() noexcept {
  if (ended()) return true;
  if (current_executor() || !claim_start()) return false;
  run_here();
  return true;
}

void shared_state::begin(suspension& wait, waiter& entry) noexcept {
  expect_other();
  bool first = false;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: the mutex orders it after the exchange in wake_all().
    const std::uint32_t state = word_.load(std::memory_order_relaxed);
    if (state == finished) {
      [[maybe_unused]] bool taken = wait.take_now(entry, *this);
      return;
    }
    waiters_.enlist(wait, *this, entry);
    first = state == idle;
    // ORDER: relaxed, pairs with nothing: see claim_start().
    if (first) word_.exchange(started, std::memory_order_relaxed);
  }
  if (first) launch(*current_executor());
}

bool shared_state::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  return waiters_.take_out(entry);
}

std::error_code shared_state::check() {
  switch (run().ending()) {
    case outcome_kind::value: return {};
    case outcome_kind::exception:
      // ORDER: relaxed, pairs with nothing: the last handle reads it after the drop of this handle.
      received_.store(true, std::memory_order_relaxed);
      std::rethrow_exception(run().error());
    case outcome_kind::refused: return run().refusal();
    case outcome_kind::timed_out: return make_error_code(errc::deadline_exceeded);
    default: return make_error_code(errc::cancelled);
  }
}

// --- handles

void shared_state::retain() noexcept {
  // ORDER: relaxed, pairs with nothing: the caller has a handle.
  handles_.fetch_add(1, std::memory_order_relaxed);
}

void shared_state::drop() noexcept {
  // ORDER: acq_rel, pairs with the fetch_sub of the other handles in drop(): the last one sees their writes.
  if (handles_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // ORDER: relaxed, pairs with nothing: it only says whether the body may run; drop_handle() orders the rest.
  const std::uint32_t state = word_.load(std::memory_order_relaxed);
  if (state == idle) return frame_.destroy();
  if (state == started) {
    {
      locked guard(mutex_);
      expects(waiters_.empty(), "the last handle of a shared task was dropped while it is awaited",
              "let a handle outlive the wait");
    }
    run().request(stop_level::cancel);
  }
  // ORDER: relaxed, pairs with nothing: ordered by the drops of the handles.
  if (received_.load(std::memory_order_relaxed)) run().take_result();
  run().drop_handle();
}

}}}  // namespace hocket::detail
