#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/signal_fence.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/detail/called_stack.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>

#include <exception>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

constexpr std::size_t big_stack_size = std::size_t{8} << 20;

// The call, on the caller's stack.
struct stack_call {
  called_stack called;
  void (*run)(void* body);
  void* body;
  call_annotation annotation;
  std::exception_ptr error{};
};

// The first frame on the other stack. A fiber that suspends in the call parks and continues there: its control block
// refers to a record, not to a stack.
void enter_call(void* argument, void* from, void*) noexcept {
  auto& call = *static_cast<stack_call*>(argument);
  call.annotation.on_entry();
  call.called.caller_record = from;
  try {
    call.run(call.body);
  } catch (...) {
    call.error = std::current_exception();
  }
  call.annotation.before_return();
  machine::leave(from, nullptr);
}

}  // namespace

void call_on(const stack_ref& stack, void (*run)(void* body), void* body) {
  fiber_thread& thread = fiber_thread::current();
  fiber_record* fiber = thread.running ? &fiber_record::from_block(*thread.running) : nullptr;
  called_stack*& calls = fiber ? fiber->calls : thread.calls;
  stack_call call{{stack, calls, nullptr},
                  run,
                  body,
                  call_annotation(fiber ? &fiber->annotation : nullptr, stack.low, stack.size())};
  // Below the top, so that its stack pointer is on the stack from the first instruction on.
  void* record = machine::prepare(stack.top - 16, &enter_call, &call, stack.size() - 16);
  call.annotation.before_call();
  signal_fence();  // an enumeration of stacks finds a complete one
  calls = &call.called;
  static_cast<void>(machine::switch_to(record, nullptr));
  calls = call.called.outer;
  call.annotation.after_return();
  if (stack.canary && !canary_intact(stack.low))
    fatal("the stack of a call_on_stack overflowed (its canary is gone)",
          "give it a larger stack, or guard pages to find the place");
  if (call.error) std::rethrow_exception(std::move(call.error));
}

thread_pin::thread_pin() noexcept : self_(nullptr), migrated_(false) {
  control_block* const running = running_fiber();
  if (!is_scheduled(running)) return;
  self_ = &scheduled_fiber::from_block(*running).activity();
  migrated_ = self_->set_migratable(false);
}

thread_pin::~thread_pin() {
  if (self_) self_->set_migratable(migrated_);
}

// The fiber may wait in the call, but it stays on its thread, and so does the pool.
big_stack::big_stack() : pool_(fiber_thread::current().pool_of(big_stack_size)) {
  auto stack = pool_.acquire();
  if (!stack)
    throw std::system_error(stack.error(),
                            "hocket: no big stack for a call (raise the memory limit or vm.max_map_count)");
  stack_ = *stack;
}

big_stack::~big_stack() { pool_.release(stack_); }

}}}  // namespace hocket::detail
