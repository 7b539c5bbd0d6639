#include <hocket/base/fatal.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/seam/fiber_state.hpp>
#include <hocket/gc/native_stack.hpp>
#include <hocket/stack/seam/inspection.hpp>

#include "native_bounds.hpp"
#include "registered_thread.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

namespace {

using namespace hocket::detail;
using bytes = std::byte*;

constexpr std::size_t spare = 512;  // below the frames that wait: more than a leaf function has there

native_bounds bounds_of(const registered_thread* self) {
  if (!self) return bounds_of_this_thread();
  return {const_cast<void*>(self->told.stack_low), const_cast<void*>(self->told.stack_base)};
}

bool is_in(const native_bounds& bounds, const void* place) noexcept {
  return place >= bounds.low && place < bounds.base;
}

// From where `block` was resumed, or a little below.
bytes resumer_of(const control_block& block, const fiber_thread& thread) noexcept {
  if (block.header.flags & fiber_flag::scheduled) return static_cast<bytes>(thread.worker);
  return reinterpret_cast<bytes>(block.header.continuation.next) - machine::deepest_record;
}

// The lowest place on the thread's own stack that something waits at: what was resumed, and what calls other stacks,
// has left it there. Null: nobody knows.
class lowest_native {
 public:
  explicit lowest_native(const native_bounds& bounds) noexcept : bounds_(bounds) {}

  bytes find(const control_block* running, const fiber_thread& thread) noexcept {
    while (running) {
      along(fiber_record::from_block(const_cast<control_block&>(*running)).calls);
      const bytes place = resumer_of(*running, thread);
      if (!place || is_in(bounds_, place)) {
        note(place);
        break;
      }
      running = fiber_at(place + machine::deepest_record);
    }
    along(thread.calls);
    return lowest_;
  }

 private:
  static const control_block* fiber_at(bytes place) noexcept {
    const auto* const block = static_cast<const control_block*>(cell_on(reinterpret_cast<std::uintptr_t>(place)));
    return block && block->header.kind == coroutine_kind::fiber ? block : nullptr;
  }
  void along(const called_stack* call) noexcept {
    for (; call; call = call->outer) note(static_cast<bytes>(call->left));
  }
  void note(bytes place) noexcept {
    if (is_in(bounds_, place) && (!lowest_ || place < lowest_)) lowest_ = place;
  }

  const native_bounds& bounds_;
  bytes lowest_ = nullptr;
};

}  // namespace

std::optional<stack_ref> free_native_stack() {
  const control_block* const running = running_fiber();
  fiber_thread& thread = fiber_thread::current();
  if (!running && !thread.calls) return std::nullopt;
  const native_bounds bounds = bounds_of(own_thread());
  if (is_in(bounds, __builtin_frame_address(0))) return std::nullopt;
  const bytes place = lowest_native(bounds).find(running, thread);
  expects(place != nullptr, "gc::on_native_stack() does not know how much of the thread's stack is in use",
          "not from a raw coroutine that was resumed within a call_on_stack: call it outside of that");
  const auto top = reinterpret_cast<std::uintptr_t>(place - spare) & ~std::uintptr_t{63};
  stack_ref free{};
  free.low = static_cast<bytes>(bounds.low);
  free.top = free.low + (top - reinterpret_cast<std::uintptr_t>(bounds.low));
  return free;
}

}}}  // namespace hocket::gc::detail
