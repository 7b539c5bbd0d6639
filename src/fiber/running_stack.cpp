#include <hocket/base/fatal.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/detail/called_stack.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/detail/park.hpp>
#include <hocket/fiber/seam/running_stack.hpp>
#include <hocket/stack/seam/inspection.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

control_block* running_block() noexcept {
  const fiber_thread* const thread = fiber_thread::current_if_any();
  return thread ? thread->running : nullptr;
}

constexpr std::size_t spare = 512;  // below the frames that wait: more than a leaf function has there

struct native_bounds {
  std::byte* low;
  std::byte* base;
  bool contain(const void* place) const noexcept { return place >= low && place < base; }
};

// The place where `block` was resumed, or a little below.
std::byte* resumer_of(const control_block& block, const fiber_thread& thread) noexcept {
  if (block.header.flags & fiber_flag::scheduled) return static_cast<std::byte*>(thread.worker);
  return reinterpret_cast<std::byte*>(block.header.continuation.next) - machine::deepest_record;
}

// The lowest place on the thread's own stack where code waits: for a fiber that it has resumed, or in a call on another
// stack. Null: unknown.
class lowest_native {
 public:
  explicit lowest_native(const native_bounds& bounds) noexcept : bounds_(bounds) {}

  std::byte* find(const control_block* running, const fiber_thread& thread) noexcept {
    while (running) {
      along(fiber_record::from_block(const_cast<control_block&>(*running)).calls);
      std::byte* const place = resumer_of(*running, thread);
      if (!place || bounds_.contain(place)) {
        consider(place);
        break;
      }
      running = fiber_at(place + machine::deepest_record);
    }
    along(thread.calls);
    return lowest_;
  }

 private:
  static const control_block* fiber_at(std::byte* place) noexcept {
    const auto* const block = static_cast<const control_block*>(cell_on(reinterpret_cast<std::uintptr_t>(place)));
    return block && block->header.kind == coroutine_kind::fiber ? block : nullptr;
  }
  void along(const called_stack* call) noexcept {
    for (; call; call = call->outer) consider(static_cast<std::byte*>(call->caller_record));
  }
  void consider(std::byte* place) noexcept {
    if (bounds_.contain(place) && (!lowest_ || place < lowest_)) lowest_ = place;
  }

  const native_bounds& bounds_;
  std::byte* lowest_ = nullptr;
};

}  // namespace

const char* running_raw_coroutine() noexcept {
  control_block* const running = running_block();
  return running && !running->header.ctx ? fiber_record::from_block(*running).name : nullptr;
}

bool runs_on_copied_stack() noexcept {
  const control_block* const running = running_block();
  return running && (running->header.reserved & stack_bit::copied) != 0;
}

bool fibers_are_threads() noexcept { return machine::fibers_are_threads; }

bool may_be_off_native_stack() { return running_fiber() || fiber_thread::current().calls; }

std::optional<stack_ref> unused_native_stack(std::byte* low, std::byte* base) {
  const native_bounds bounds{low, base};
  if (bounds.contain(__builtin_frame_address(0))) return std::nullopt;
  std::byte* const place = lowest_native(bounds).find(running_fiber(), fiber_thread::current());
  expects(place != nullptr, "it is unknown how much of the thread's own stack is in use",
          "not from a raw coroutine that was resumed within a call_on_stack: call it outside of that");
  const auto top = reinterpret_cast<std::uintptr_t>(place - spare) & ~std::uintptr_t{63};
  stack_ref unused{};
  unused.low = low;
  unused.top = low + (top - reinterpret_cast<std::uintptr_t>(low));
  return unused;
}

}}}  // namespace hocket::detail
