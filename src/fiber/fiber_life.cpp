#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/observer.hpp>
#include <hocket/fiber/fiber_life.hpp>
#include <hocket/fiber/fiber_local.hpp>
#include <hocket/fiber/round_trip.hpp>

#include "fiber/entry.hpp"
#include "fiber/terminate.hpp"

#include <memory>
#include <system_error>
#include <utility>

namespace hocket::inline HOCKET_ABI {
namespace detail {

void check_canary(const fiber_record& record) noexcept {
  if (canary_intact(record.stack.low)) [[likely]]
    return;
  fatal("the stack of a coroutine overflowed (its canary is gone)",
        "raise stack_size of its pool, or give the pool guard pages to find the place", record.name);
}

// --- making

stack_ref acquire_stack(stack_pool* pool, fiber_thread& thread, std::size_t footprint) {
  stack_pool& from = pool ? *pool : thread.default_pool();
  auto stack = from.acquire();
  if (!stack)
    throw std::system_error(stack.error(),
                            "hocket: no stack for a coroutine (raise the pool's limit, the memory limit "
                            "or vm.max_map_count, or use guard::preferred)");
  if (stack->size() < footprint + stack_pool::minimum_size / 2) {
    from.release(*stack);
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "hocket: the callable does not fit on the coroutine's stack: raise stack_size");
  }
  return *stack;
}

fiber_record& make_record(const stack_ref& stack, const char* name, void* user_data) noexcept {
  return *::new (&fiber_record::on(stack))
      fiber_record{static_cast<control_block*>(stack.cell), stack, name, user_data, nullptr, nullptr, {}, {}, {}};
}

void make_control_block(fiber_record& record, fiber_thread& thread, void* top,
                        void (*entry)(void*, void*, void*)) noexcept {
  const stack_ref& stack = record.stack;
  auto* block = ::new (stack.cell) control_block{fiber_entry_points, {}, nullptr};
  block->header.kind = coroutine_kind::fiber;
  block->header.flags = stack.canary ? fiber_flag::canary : std::uint8_t{0};
  block->header.continuation.home = &thread;
  block->record = machine::prepare(top, entry, &record);
  record.annotation.on_acquire(stack.low, stack.size());
  if (observer* watcher = installed_observer()) watcher->created(block, current_context());
}

// --- ending

void finish(fiber_record& record, void* resumer) noexcept {
  control_block& block = *record.block;
  destroy_fiber_locals(record.locals);
  if (block.header.flags & fiber_flag::canary) check_canary(record);
  block.header.flags |= header_flag::finished;
  block.head.resume = nullptr;
  record.annotation.before_leave();
  machine::leave(resumer, nullptr);
}

namespace {

void unwind(control_block& block, fiber_record& record) noexcept {
  block.header.flags |= fiber_flag::unwinding;
  explain_terminate();
  void* yielded = enter(block, record, nullptr);
  expects(yielded == nullptr, "a destructor suspended while its coroutine was being destroyed",
          "destructors must not yield: finish the protocol before the coroutine is destroyed", record.name);
}

}  // namespace

void destroy_fiber(fiber_record& record) noexcept {
  control_block& block = *record.block;
  expects(block.thread().id == machine::thread_id(), "a coroutine was destroyed by another thread",
          "destroy it on the thread that created it", record.name);
  if (!block.finished()) {
    expects(block.record != nullptr, "a coroutine was destroyed while it runs",
            "let it return, or destroy it from the code that resumes it", record.name);
    if (block.header.flags & fiber_flag::canary) check_canary(record);
    if (block.header.flags & header_flag::started) unwind(block, record);
  }
  if (observer* watcher = installed_observer()) watcher->destroyed(&block);
  record.drop_body(record);
  record.annotation.on_release();
  stack_ref stack = record.stack;
  std::destroy_at(&record);
  stack_pool::pool_of(&block).release(stack);
}

void check_unwound(const fiber_record& record) noexcept {
  expects(!(record.block->header.flags & fiber_flag::unwinding), "a coroutine swallowed the exception that unwinds it",
          "a catch (...) in its body must rethrow: catch the types that you handle", record.name);
}

void rethrow_error(const fiber_record& record) {
  if (record.error) std::rethrow_exception(record.error);
}

}  // namespace detail
}  // namespace hocket::inline HOCKET_ABI
