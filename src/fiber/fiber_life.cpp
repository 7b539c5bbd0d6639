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
  if (canary_intact(stack_pool::stack_of(record.block).low)) [[likely]]
    return;
  fatal("the stack of a coroutine overflowed (its canary is gone)",
        "raise stack_size of its pool, or give the pool guard pages to find the place", record.name);
}

namespace {

[[gnu::always_inline]] inline stack_ref stack_of(fiber_record& record) noexcept {
  const bool canary = (record.block->header.flags & fiber_flag::canary) != 0;
  return record.pool->stack_at(record.block, record.top(), canary);
}

void release_stack(fiber_record& record) noexcept {
  const stack_ref stack = stack_of(record);
  stack_pool& pool = *record.pool;
  std::destroy_at(&record);
  pool.release(stack);
}

[[noreturn]] void throw_no_room() {
  throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                          "hocket: the callable does not fit on the coroutine's stack: raise stack_size");
}

// Inline, like acquire(): the stack stays in registers.
[[gnu::always_inline]] inline fiber_record& place(const stack_ref& stack, fiber_thread& thread, stack_pool& pool,
                                                  const char* name, void* user_data) noexcept {
  auto* block = ::new (stack.cell) control_block{fiber_entry_points, {}, nullptr};
  block->header.kind = coroutine_kind::fiber;
  block->header.flags = stack.canary ? fiber_flag::canary : std::uint8_t{0};
  block->header.continuation.home = &thread;
  return *::new (&fiber_record::on(stack))
      fiber_record{block, &pool, name ? name : "unnamed", user_data, nullptr, nullptr, {}, {}, {}};
}

}  // namespace

void throw_no_stack(std::error_code error) {
  throw std::system_error(error,
                          "hocket: no stack for a coroutine (raise the pool's limit, the memory limit or "
                          "vm.max_map_count, or use guard::preferred)");
}

// --- making

fiber_record& begin_fiber(stack_pool* pool, const char* name, void* user_data, std::size_t footprint) {
  fiber_thread& thread = fiber_thread::current();
  stack_pool& from = pool ? *pool : thread.default_pool();
  auto stack = from.acquire();
  if (!stack) [[unlikely]]
    throw_no_stack(stack.error());
  if (stack->size() < footprint + stack_pool::minimum_size / 2) [[unlikely]] {
    from.release(*stack);
    throw_no_room();
  }
  return place(*stack, thread, from, name, user_data);
}

fiber_record* try_begin_fiber(stack_pool& pool, const char* name, void* user_data, std::error_code& error) noexcept {
  auto stack = pool.acquire();
  if (!stack) [[unlikely]] {
    error = stack.error();
    return nullptr;
  }
  return &place(*stack, *fiber_thread::current_if_any(), pool, name, user_data);
}

fiber_record& begin_fiber_on(const stack_ref& stack, stack_pool& pool, const char* name, void* user_data) noexcept {
  return place(stack, *fiber_thread::current_if_any(), pool, name, user_data);
}

void arm_fiber(fiber_record& record, void* top, void (*entry)(void*, void*, void*)) noexcept {
  std::byte* const low = stack_of(record).low;
  auto room = static_cast<std::size_t>(static_cast<std::byte*>(top) - low);
  record.block->record = machine::prepare(top, entry, &record, room);
  record.annotation.on_acquire(low, static_cast<std::size_t>(record.top() - low));
  ++record.block->thread().live;
}

void give_up_fiber(fiber_record& record) noexcept { release_stack(record); }

void announce_fiber(const fiber_record& record) noexcept {
  if (observer* watcher = installed_observer()) [[unlikely]]
    watcher->created(record.block, current_context());
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
  void* yielded = enter(block, nullptr);
  expects(yielded == nullptr, "code suspended while its coroutine was being destroyed",
          "destructors and catch (...) blocks that unwinding runs must not yield", record.name);
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
  if (observer* watcher = installed_observer()) [[unlikely]]
    watcher->destroyed(&block);
  bury_fiber(record);
}

void bury_fiber(fiber_record& record) noexcept {
  record.drop_body(record);
  record.annotation.on_release();
  fiber_thread& thread = record.block->thread();
  release_stack(record);
  thread.one_less();
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
