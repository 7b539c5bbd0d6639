#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/signal_fence.hpp>
#include <hocket/base/seam/valgrind.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/observed.hpp>
#include <hocket/fiber/detail/fiber_life.hpp>
#include <hocket/fiber/detail/packing.hpp>
#include <hocket/fiber/detail/resume_order.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/fiber_local.hpp>

#include "fiber/canary.hpp"
#include "fiber/entry.hpp"
#include "fiber/terminate.hpp"

#include <memory>
#include <system_error>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

[[gnu::always_inline]] inline stack_ref stack_of(const fiber_record& record) noexcept {
  return record.pool->stack_at(record.block, record.top(), (record.block->header.reserved & special_bit::canary) != 0);
}

// An enumeration stops threads at any instruction, and identifies the cell of a fiber by its kind (enumeration.hpp). It
// must be ordered only with signals of its own thread.
[[gnu::always_inline]] inline void enter_enumeration(control_block& block) noexcept {
  signal_fence();
  block.header.kind = coroutine_kind::fiber;
}
[[gnu::always_inline]] inline void leave_enumeration(control_block& block) noexcept {
  block.header.kind = coroutine_kind::foreign;
  signal_fence();
}

}  // namespace

void report_canary(control_block& block) noexcept {
  fatal("the stack of a coroutine overflowed (its canary is gone)",
        "raise stack_size of its pool, or give the pool guard pages to find the place",
        fiber_record::from_block(block).name);
}

namespace {

void release_stack(fiber_record& record) noexcept {
  const stack_ref stack = stack_of(record);
  leave_enumeration(*record.block);
  stack_pool& pool = *record.pool;
  if (pool.shares_stacks()) leave_copied_stack(record);
  delete record.floating_point;
  std::destroy_at(&record);
  pool.release(stack);
}

[[noreturn]] void throw_no_room() {
  throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                          "hocket: the callable does not fit on the coroutine's stack: raise stack_size");
}

// Inline, like acquire(): the stack stays in registers.
[[gnu::always_inline]] inline fiber_record& place(const stack_ref& stack, fiber_thread& thread, stack_pool& pool,
                                                  const frame_head& entry, const char* name, void* user_data) noexcept {
  if (under_memcheck) [[unlikely]]
    allow_stack_access(stack.low, stack.size());  // the callable may lie below the last frames
  auto* block = ::new (stack.cell) control_block{entry, {}, nullptr};
  block->header.reserved = pool.shares_stacks() ? stack_bit::copied : 0;
  if (stack.canary) store_canary(*block, stack);
  block->header.continuation.home = &thread;
  auto* record = ::new (&fiber_record::on(stack)) fiber_record;
  record->block = block;
  record->pool = &pool;
  record->name = name ? name : "unnamed";
  record->user_data = user_data;
  enter_enumeration(*block);
  return *record;
}

// Saves the frames of another fiber on the stack, if there are any. False: there is no memory to save them, and the
// stack was released.
bool save_other_frames(const stack_ref& stack, stack_pool& pool) noexcept {
  if (!pool.shares_stacks() || take_copied_stack(stack.cell)) [[likely]]
    return true;
  pool.release(stack);
  return false;
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
  if (!save_other_frames(*stack, from)) [[unlikely]]
    throw std::bad_alloc();
  return place(*stack, thread, from, raw_entry_points, name, user_data);
}

fiber_record* try_begin_fiber(stack_pool& pool, const char* name, void* user_data, std::error_code& error) noexcept {
  auto stack = pool.acquire();
  if (!stack || !save_other_frames(*stack, pool)) [[unlikely]] {
    error = stack ? std::make_error_code(std::errc::not_enough_memory) : stack.error();
    return nullptr;
  }
  return &place(*stack, *fiber_thread::current_if_any(), pool, scheduled_entry_points, name, user_data);
}

fiber_record& begin_fiber_on(const stack_ref& stack, stack_pool& pool, const char* name, void* user_data) {
  if (!save_other_frames(stack, pool)) throw std::bad_alloc();
  return place(stack, *fiber_thread::current_if_any(), pool, scheduled_entry_points, name, user_data);
}

void begin_own_floating_point(fiber_record& record) {
  record.block->header.flags |= fiber_flag::special;
  record.block->header.reserved |= special_bit::own_floating_point;
  record.floating_point = new std::fenv_t;
  std::fegetenv(record.floating_point);
}

void arm_fiber(fiber_record& record, void* top, void (*entry)(void*, void*, void*)) noexcept {
  std::byte* const low = stack_of(record).low;
  const auto capacity = static_cast<std::size_t>(static_cast<std::byte*>(top) - low);
  const auto body = reinterpret_cast<std::byte*>(&record) - static_cast<std::byte*>(top);
  record.body_size = static_cast<std::uint32_t>(body / 16);
  record.block->record = machine::prepare(top, entry, &record, capacity);
  record.annotation.on_acquire(low, static_cast<std::size_t>(record.top() - low));
  record.block->thread().add_fiber();
}

void give_up_fiber(fiber_record& record) noexcept {
  record.block->head.resume = nullptr;  // the cell is free (control_block.hpp)
  release_stack(record);
}

namespace {

[[gnu::cold, gnu::noinline]] void notify_creation(const fiber_record& record) noexcept {
  notify_created(coroutine_id(record.block),
                 {.kind = observed_kind::raw_fiber, .name = record.name, .ctx = current_context()});
}

}  // namespace

void announce_fiber(const fiber_record& record) noexcept {
  if (observed()) [[unlikely]]
    notify_creation(record);
}

// --- ending

void finish(fiber_record& record, void* resumer) noexcept {
  control_block& block = *record.block;
  destroy_fiber_locals(record.locals);
  if (block.header.flags & fiber_flag::special) check_canary(block);
  block.header.flags |= header_flag::finished;
  block.head.resume = nullptr;
  record.annotation.before_leave();
  machine::leave(resumer, nullptr);
}

namespace {

void unwind(control_block& block, fiber_record& record) noexcept {
  block.header.flags |= fiber_flag::unwinding;
  explain_terminate();
  void* yielded = enter(block, block.thread(), nullptr);
  expects(yielded == nullptr, "code suspended while its coroutine was being destroyed",
          "destructors and catch (...) blocks that unwinding runs must not yield", record.name);
}

}  // namespace

namespace {

void expect_own_thread(control_block& block, const char* name) noexcept {
  expects(block.thread().id == machine::thread_id(), "a coroutine was destroyed by another thread",
          "destroy it on the thread that created it", name);
}

}  // namespace

void destroy_fiber(control_block& block) noexcept {
  if (is_packed(block)) {
    expect_own_thread(block, fiber_record::from_block(block).name);
    unpack(block);
  }
  destroy_fiber(fiber_record::from_block(block));
}

void destroy_fiber(fiber_record& record) noexcept {
  control_block& block = *record.block;
  expect_own_thread(block, record.name);
  foresee(block);
  if (!block.finished()) {
    expects(block.record != nullptr, "a coroutine was destroyed while it runs",
            "let it return, or destroy it from the code that resumes it", record.name);
    if (block.header.flags & fiber_flag::special) check_canary(block);
    if (block.header.flags & header_flag::started) unwind(block, record);
    else block.head.resume = nullptr;  // the cell is free (control_block.hpp)
  }
  if (observed()) [[unlikely]]
    notify_destroyed(coroutine_id(&block));
  bury_fiber(record);
}

void bury_fiber(fiber_record& record) noexcept {
  record.drop_body(record);
  record.annotation.on_release();
  fiber_thread& thread = record.block->thread();
  release_stack(record);
  thread.remove_fiber();
}

void check_unwound(const fiber_record& record) noexcept {
  expects(!(record.block->header.flags & fiber_flag::unwinding), "a coroutine swallowed the exception that unwinds it",
          "a catch (...) in its body must rethrow: catch the types that you handle", record.name);
}

void rethrow_error(const fiber_record& record) {
  if (record.error) std::rethrow_exception(record.error);
}

}}}  // namespace hocket::detail
