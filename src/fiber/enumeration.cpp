// Enumerates the stacks of fibers while their threads are stopped.
//
// # Rules for a cell of kind fiber, in this order
//
//   the fiber has finished                    its result lies between the beginning of its frames and its record
//   its record is null                        it runs, has resumed another, or is about to be stored (below)
//   the record lies on its own stack          parked
//   the record lies on no stack of a slab     packed: the record is the image
//   otherwise                                 parked in a call_on_stack: a chain of stacks
//
// The address decides "packed", never the flag, which a resume changes at another moment.
//
// # A null record
//
// If the stack pointer of a stopped thread is on the stack, or on its innermost called stack, then the fiber runs, and
// the caller scans that stack. Otherwise the fiber has resumed a raw coroutine, or its thread was stopped in a switch.
// The coroutines of a thread form a chain: each raw one stores the place of its resume (control_block.hpp), and the
// chain ends at the thread's own stack. If such a place is on our stack, the fiber is parked there. If the chain has no
// such place, the depth is unknown.
//
// # The thread's own stack
//
// The thread's own stack, and the stacks that it has called itself, are found in the same way: by the chain, in which a
// scheduled fiber's resumer is the thread's (fiber_thread::worker), and by its call_on_stack. Both values can be stale,
// because the new value may still be in a register (at -O0, too: machine.hpp). So the lowest candidate on the stack,
// registers included, is used.
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/detail/called_stack.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/detail/fiber_thread.hpp>
#include <hocket/fiber/enumeration.h>
#include <hocket/fiber/enumeration.hpp>
#include <hocket/stack/seam/inspection.hpp>
#include <hocket/stack/seam/stack_image.hpp>

#include "fiber/entry.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ranges>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

namespace {

using bytes = const std::byte*;

// The owner of an acquired stack may keep data of its own in the cell: then the second word is no entry stub.
bool is_fiber(const control_block& block) noexcept {
  return block.header.kind == coroutine_kind::fiber && block.head.destroy == raw_entry_points.destroy;
}

bool is_on(const stack_ref& stack, bytes address) noexcept { return address >= stack.low && address < stack.top; }

stack_ref own_stack_of(control_block& block) noexcept { return stack_pool::stack_of(&block); }

control_block* block_on(bytes address) noexcept {
  return static_cast<control_block*>(cell_on(reinterpret_cast<std::uintptr_t>(address)));
}

// The fiber that has called the stack with `address`.
control_block* caller_of_stack_at(bytes address) noexcept {
  control_block* found = nullptr;
  for_each_cell([&](void* cell, void*) {
    auto& block = *static_cast<control_block*>(cell);
    if (found || !is_fiber(block) || block.record || block.finished()) return;
    for (const called_stack* call = fiber_record::on(own_stack_of(block)).calls; call; call = call->outer)
      if (is_on(call->stack, address)) found = &block;
  });
  return found;
}

// The fiber with the frames at `address`; null: the thread's own frames, or unused memory.
control_block* fiber_at(bytes address) noexcept {
  control_block* const block = block_on(address);
  if (!block || is_fiber(*block)) return block;
  return caller_of_stack_at(address);
}

// The place, or a little below, where the resumer of `block` is parked. A raw coroutine stores it itself, a scheduled
// fiber's thread stores it. Null: unknown.
bytes resumer_of(const control_block& block, const stopped_thread& thread) noexcept {
  if (!(block.header.flags & fiber_flag::scheduled))
    return reinterpret_cast<bytes>(block.header.continuation.next) - machine::deepest_record;
  return thread.fibers ? static_cast<bytes>(static_cast<const fiber_thread*>(thread.fibers)->worker) : nullptr;
}

// Threads: a range of stopped_thread, or of values that convert to it on access.
template <class Threads>
class enumeration {
 public:
  enumeration(const Threads& threads, void (*visit)(void*, const stack_range&), void* argument) noexcept
      : threads_(threads), visit_(visit), argument_(argument) {}

  std::size_t run() noexcept {
    for_each_cell([this](void* cell, void* ahead) {
      if (ahead) prefetch_frames(*static_cast<control_block*>(ahead));
      auto& block = *static_cast<control_block*>(cell);
      if (is_fiber(block)) fiber(block, own_stack_of(block));
    });
    for (const stopped_thread& stopped : threads_) own_stack(stopped);
    return unknown_;
  }

 private:
  static constexpr std::size_t longest_chain =
      1'000'000;  // bounds a circle: a stored place may be of an earlier activation

  void report(bytes low, bytes high, stack_part part) noexcept {
    if (low < high) visit_(argument_, {low, high, part});
  }

  // Prefetches six lines of its frames. With two, a scan of 100,000 fibers takes 1.7 times as long; with nine, shallow
  // frames take longer, and deep ones hardly less. A loop over the lines, which g++ 12 does not unroll, is slower than
  // two lines.
  static void prefetch_frames(const control_block& later) noexcept {
    if (!later.record) return;
    const auto record = static_cast<bytes>(later.record);
    prefetch(record);
    prefetch(record + 64);
    prefetch(record + 128);
    prefetch(record + 192);
    prefetch(record + 256);
    prefetch(record + 320);
  }

  // The end of the roots on a fiber's stack: its frames, its body, and the first words of its record.
  static bytes limit(const stack_ref& stack) noexcept {
    return reinterpret_cast<bytes>(&fiber_record::on(stack).calls);
  }

  void fiber(control_block& block, const stack_ref& stack) noexcept {
    const auto record = static_cast<bytes>(block.record);
    if (block.finished()) return finished(block, stack);
    if (!record) {
      if constexpr (debug_checks) expect_stopped(block, stack);
      return without_record(stack);
    }
    if (is_on(stack, record)) return report(record, limit(stack), stack_part::parked);
    if (!is_on_any_stack(reinterpret_cast<std::uintptr_t>(record)))
      return packed(stack, *static_cast<stack_image*>(block.record));
    in_calls(stack, record, fiber_record::on(stack).calls);
  }

  // A thread that is older than a fork may be the parent's.
  void expect_stopped(const control_block& block, const stack_ref& stack) const noexcept {
    const auto is_home = [&](const stopped_thread& each) { return each.fibers == &block.thread(); };
    if (std::any_of(threads_.begin(), threads_.end(), is_home) || block.thread().forks != forks_so_far()) return;
    std::array<char, 256> text{};
    std::snprintf(
        text.data(), text.size(),
        "stacks are enumerated in \"%.80s\" while a thread runs \"%.80s\", which is not among the stopped threads",
        current_context().name(), fiber_record::on(stack).name);
    fatal(text.data(), "stop each thread that runs fibers, and pass its entry");
  }

  // On a copied stack the result may have been packed afterwards.
  void finished(const control_block& block, const stack_ref& stack) noexcept {
    if (block.record) return whole_image(*static_cast<stack_image*>(block.record), stack_part::finished);
    report(fiber_record::on(stack).base(), limit(stack), stack_part::finished);
  }

  // The image ends with the fiber's record; its first words are reported.
  static const fiber_record& record_in(stack_image& image) noexcept {
    return *static_cast<const fiber_record*>(image.find(image.top() - sizeof(fiber_record)));
  }
  void whole_image(stack_image& image, stack_part part) noexcept {
    report(static_cast<bytes>(image.find(image.from())), reinterpret_cast<bytes>(&record_in(image).calls), part);
  }

  // With a copied stack the fiber may wait in a call; the called stack stays in place.
  void packed(const stack_ref& stack, stack_image& image) noexcept {
    whole_image(image, stack_part::packed);
    const auto record = static_cast<bytes>(image.record);
    if (record_in(image).calls && !is_on(stack, record)) called(record, record_in(image).calls, image);
  }
  // The called stacks below the part in the image.
  void called(bytes record, const called_stack* call, stack_image& image) noexcept {
    while (call) {
      call = static_cast<const called_stack*>(in_image(call, image));
      report(record, call->stack.top, stack_part::parked);
      record = static_cast<bytes>(call->caller_record);
      call = call->outer;
    }
  }
  // A called_stack lies on the stack that made the call: on the copied one, or on a called one.
  static const void* in_image(const void* record, stack_image& image) noexcept {
    const auto address = static_cast<bytes>(record);
    return address >= image.from() && address < image.top() ? image.find(record) : record;
  }

  // Reports the innermost called stack, which continues at `record`, and outward the fiber's own.
  void in_calls(const stack_ref& stack, bytes record, const called_stack* call) noexcept {
    for (; call; call = call->outer) {
      report(record, call->stack.top, stack_part::parked);
      record = static_cast<bytes>(call->caller_record);
    }
    report(record, limit(stack), stack_part::parked);
  }

  void without_record(const stack_ref& stack) noexcept {
    const called_stack* const call = fiber_record::on(stack).calls;
    const stack_ref& innermost = call ? call->stack : stack;
    const bytes high = call ? innermost.top : limit(stack);
    if (!is_stopped_on(innermost)) {
      const bytes low = parked_at(innermost);
      if (!low) ++unknown_;
      report(low ? low : innermost.low, high, low ? stack_part::parked : stack_part::unknown);
    }
    if (call) outer_calls(stack, *call);
  }

  // The innermost called stack is reported already. A call that is about to begin has no record of its caller yet.
  void outer_calls(const stack_ref& stack, const called_stack& innermost) noexcept {
    for (const called_stack* call = &innermost; call; call = call->outer) {
      const stack_ref& below = call->outer ? call->outer->stack : stack;
      if (is_stopped_on(below)) continue;
      const bytes high = call->outer ? below.top : limit(stack);
      const auto record = static_cast<bytes>(call->caller_record);
      if (!record) ++unknown_;
      report(record ? record : below.low, high, record ? stack_part::parked : stack_part::unknown);
    }
  }

  bool is_stopped_on(const stack_ref& stack) const noexcept {
    return std::any_of(threads_.begin(), threads_.end(), [&](const stopped_thread& stopped) {
      return is_on(stack, static_cast<bytes>(stopped.stack_pointer));
    });
  }

  // The place on the stack where running code was resumed; null: none.
  bytes parked_at(const stack_ref& stack) const noexcept {
    bytes lowest = nullptr;
    for (const stopped_thread& stopped : threads_) {
      bool is_in_chain = false;
      along_chain(stopped, [&](bytes record) { is_in_chain = is_in_chain || is_on(stack, record); });
      if (is_in_chain) lower(lowest, lowest_on(stopped, stack.low, stack.top), stack.low, stack.top);
    }
    return lowest;
  }

  static void lower(bytes& lowest, bytes candidate, bytes low, bytes high) noexcept {
    if (candidate >= low && candidate < high && (!lowest || candidate < lowest)) lowest = candidate;
  }

  // The lowest place in [low, high) where the thread may have left the stack; null: there is none.
  static bytes lowest_on(const stopped_thread& thread, bytes low, bytes high) noexcept {
    bytes lowest = nullptr;
    along_chain(thread, [&](bytes place) { lower(lowest, place, low, high); });
    for (const called_stack* call = calls_of(thread); call; call = call->outer)
      lower(lowest, static_cast<bytes>(call->caller_record), low, high);
    for (const std::uintptr_t word : thread.registers) lower(lowest, reinterpret_cast<bytes>(word), low, high);
    return lowest;
  }

  static const called_stack* calls_of(const stopped_thread& thread) noexcept {
    return thread.fibers ? static_cast<const fiber_thread*>(thread.fibers)->calls : nullptr;
  }

  // Calls f with the place of each resume, from the coroutine that the thread runs outward.
  template <class F>
  static void along_chain(const stopped_thread& thread, F&& f) noexcept {
    const control_block* running = fiber_at(static_cast<bytes>(thread.stack_pointer));
    for (std::size_t i = 0; running && i < longest_chain; ++i) {
      const bytes resumer = resumer_of(*running, thread);
      if (!resumer) return;
      f(resumer);
      running = fiber_at(resumer + machine::deepest_record);
    }
  }

  // Reports a thread's own stack, and the stacks that it has called while no fiber ran, if it is stopped elsewhere.
  void own_stack(const stopped_thread& thread) noexcept {
    for (const called_stack* call = calls_of(thread); call; call = call->outer)
      if (!is_stopped_on(call->stack)) report_own_stack(thread, call->stack.low, call->stack.top);
    const auto low = static_cast<bytes>(thread.stack_low), base = static_cast<bytes>(thread.stack_base);
    const auto stack_pointer = static_cast<bytes>(thread.stack_pointer);
    if (stack_pointer < low || stack_pointer >= base) report_own_stack(thread, low, base);
  }
  void report_own_stack(const stopped_thread& thread, bytes low, bytes high) noexcept {
    const bytes lowest = lowest_on(thread, low, high);
    if (!lowest) ++unknown_;
    report(lowest ? lowest : low, high, lowest ? stack_part::parked : stack_part::unknown);
  }

  Threads threads_;
  void (*visit_)(void*, const stack_range&);
  void* argument_;
  std::size_t unknown_ = 0;
};

stopped_thread from_c(const hocket_stopped_thread& thread) noexcept {
  return {.fibers = thread.fibers,
          .stack_pointer = thread.stack_pointer,
          .registers = {thread.registers, thread.register_count},
          .stack_low = thread.stack_low,
          .stack_base = thread.stack_base};
}

struct visit_in_c {
  hocket_visit_stack visit;
  void* argument;
};

}  // namespace

std::size_t enumerate_stacks(std::span<const stopped_thread> threads, void (*visit)(void*, const stack_range&),
                             void* argument) noexcept {
  return enumeration(threads, visit, argument).run();
}

}  // namespace detail

const void* this_thread_fibers() { return &detail::fiber_thread::current(); }

const void* stack_limit(const void* stack_pointer) noexcept {
  using namespace detail;
  const auto address = static_cast<bytes>(stack_pointer);
  control_block* const block = block_on(address);
  if (!block) return nullptr;
  const stack_ref stack = own_stack_of(*block);
  return is_fiber(*block) ? static_cast<const void*>(&fiber_record::on(stack).calls) : stack.top;
}

bool can_enumerate_stacks() noexcept {
  return !detail::machine::fibers_are_threads && detail::machine::kept_below_record == 0 &&
         detail::sanitizer != detail::sanitizer_kind::asan;
}

}}  // namespace hocket

int hocket_for_each_stack(const hocket_stopped_thread* threads, std::size_t count, hocket_visit_stack visit,
                          void* argument) {
  using namespace hocket;
  detail::visit_in_c to{visit, argument};
  const auto forward = [](void* erased, const stack_range& range) {
    const auto& in_c = *static_cast<detail::visit_in_c*>(erased);
    in_c.visit(range.low, range.high, static_cast<int>(range.part), in_c.argument);
  };
  const auto converted = std::views::transform(std::span(threads, count), &detail::from_c);
  return static_cast<int>(detail::enumeration(converted, forward, &to).run());
}

const void* hocket_this_thread_fibers() {
  try {
    return hocket::this_thread_fibers();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

const void* hocket_stack_limit(const void* stack_pointer) { return hocket::stack_limit(stack_pointer); }

int hocket_can_enumerate_stacks() { return hocket::can_enumerate_stacks(); }
