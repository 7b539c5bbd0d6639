// The life of a scheduled fiber: its first run, its rare resumes, its end.
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/fiber/detail/fiber_life.hpp>
#include <hocket/fiber/detail/packing.hpp>
#include <hocket/fiber/detail/park.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <hocket/fiber/fiber_local.hpp>

#include "fiber/idle_fibers.hpp"
#include "fiber/migration.hpp"
#include "fiber/own_floating_point.hpp"
#include "fiber/resume_scheduled.hpp"
#include "fiber/stack_wait.hpp"
#include "fiber/terminate.hpp"

#include <memory>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// The hooks for core, which knows no stacks.
constexpr stack_hooks hooks{
    &suspend_this_stack,
    [](const void* object, const char* subject) noexcept -> void* {
      control_block* running = running_fiber();
      if (!running || (running->header.reserved & (stack_bit::moves | stack_bit::copied)) == 0) return nullptr;
      object = stack_address(object);
      return refers_to_stack(&object, sizeof object, *running) ? pin_stack(*running, subject) : nullptr;
    },
    [](void* pinned) noexcept { static_cast<scheduled_fiber*>(pinned)->unpin(); },
};

}  // namespace

void scheduled_fiber::make_migratable(const spawn_options& options) noexcept {
  expects(options.stack == stack_kind::own && options.hibernate_after == duration::max(),
          "a fiber was spawned as migratable whose stack belongs to a thread",
          "dense and copied stacks, and those that hibernate, stay where they are: leave out one of the options",
          options.name.c_str(), options.location);
  self_.set_migratable(true);
}

scheduled_fiber::preparation scheduled_fiber::prepare() noexcept {
  explain_terminate();
  register_stack_hooks(hooks);
  if (!waiting_ && !self_.begin()) return preparation::ended;
  try {
    fiber_thread& thread = fiber_thread::current();
    fiber_record* record = take_stack(thread);
    if (!record) return preparation::waits;
    begin_on(*record, thread);
  } catch (...) {
    self_.fail();
    return preparation::ended;
  }
  return preparation::done;
}

// Returns null if the fiber must wait for a stack.
fiber_record* scheduled_fiber::take_stack(fiber_thread& thread) {
  stack_pool& pool = thread.pool_of(stack_size_, stack_);
  if (waiting_) [[unlikely]] {
    const std::unique_ptr<stack_wait> over(std::exchange(waiting_, nullptr));
    return &begin_fiber_on(over->take(self_), pool, self_.name(), this);
  }
  std::error_code error;
  fiber_record* record = try_begin_fiber(pool, self_.name(), this, error);
  if (record) [[likely]]
    return record;
  if (error != std::errc::resource_unavailable_try_again || !pool.depot().may_wait()) throw_no_stack(error);
  waiting_ = new stack_wait(pool.depot());
  return nullptr;
}

bool scheduled_fiber::wait_for_stack(std::coroutine_handle<> start) noexcept {
  return waiting_->begin(start, self_.spawned());
}

void scheduled_fiber::begin_on(fiber_record& record, fiber_thread& thread) {
  unless_armed guard{record};
  idle_membership idle(thread, *this);
  if (own_floating_point_) begin_own_floating_point(record);
  block_ = record.block;
  block_->header.flags |= fiber_flag::scheduled;
  block_->header.budget = transfer_budget;
  block_->header.ctx = &self_;
  if (idle.commit() || (block_->header.reserved & stack_bit::copied) != 0) block_->header.reserved |= stack_bit::moves;
  record.drop_body = [](fiber_record&) noexcept {};
  arm_fiber(record, &record, &scheduled_fiber::entry);
  guard.armed = true;
  if (!self_.migrates()) [[likely]]
    return;
  migrates_ = true;
  begin_migrating(*block_);
}

// The first function of the fiber, on its own stack.
void scheduled_fiber::entry(void* argument, void* from, void*) noexcept {
  auto& record = *static_cast<fiber_record*>(argument);
  control_block& block = *record.block;
  block.thread().worker = from;  // first: before it only a register has the worker's record (enumeration.cpp)
  record.annotation.on_entry();
  block.header.flags |= header_flag::started;
  auto& fiber = *static_cast<scheduled_fiber*>(record.user_data);
  fiber.body_(fiber, true);
  destroy_fiber_locals(record.locals);  // they may wait, so the worker's record is read after them
  finish(record, block.thread().worker);
}

void scheduled_fiber::conclude() noexcept {
  if (block_) {
    if (hibernates()) block_->thread().idle->remove(*this);
    if (migrates_) [[unlikely]]
      end_migrating(*block_);
    bury_fiber(fiber_record::from_block(*block_));
  } else {
    body_(*this, false);
  }
  self_.finish();
}

// While the fiber runs, the turn appears to be over. So a yield switches to the worker, which changes the environment,
// and not to the next fiber.
parked_fiber resume_scheduled_in_own_floating_point(control_block& block) noexcept {
  own_floating_point_scope own(fiber_record::from_block(block));
  std::size_t& turn_left = block.thread().state->turn_left;
  const std::size_t rest = std::exchange(turn_left, 0);
  parked_fiber parked = switch_to_scheduled(block);
  turn_left = rest;
  return parked;
}

// The worker runs inside of a catch block of its thread, which the fiber must not see.
parked_fiber resume_scheduled_from_handler(control_block& block) noexcept {
  exception_globals& live = *block.thread().exceptions;
  exception_globals own = std::exchange(live, {nullptr, 0});
  parked_fiber parked = resume_scheduled(block);
  live = own;
  return parked;
}

void report_bad_scheduled_resume(control_block& block) noexcept {
  fatal("a fiber was resumed that is not parked, or by another thread than its own",
        "only its executor resumes it: wake it through the primitive that it waits for", block.header.ctx->name());
}

}}}  // namespace hocket::detail
