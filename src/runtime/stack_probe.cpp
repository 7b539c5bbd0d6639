#include "runtime/stack_probe.hpp"

#include <hocket/base/seam/copy_memory.hpp>
#include <hocket/core/thread/seam/frame.hpp>

#include "runtime/platform/interrupted_code.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t most_words = 16384;  // of a stack that are searched for the frame of a task

// The beginning of a frame: of a task, a fiber, a stand-in.
struct frame_copy {
  frame_head head;
  coroutine_header header;
};
static_assert(offsetof(frame_copy, header) == 2 * sizeof(void*));

struct task_frame {
  std::uintptr_t address = 0;
  frame_copy content{};

  // False: nothing is there.
  bool read(std::uintptr_t place) noexcept {
    address = place;
    return copy_memory(&content, reinterpret_cast<const void*>(place), sizeof content);
  }
  std::uintptr_t function() const noexcept { return reinterpret_cast<std::uintptr_t>(content.head.resume); }
  bool is_task() const noexcept { return content.header.kind == coroutine_kind::task; }
  bool is_stand_in() const noexcept { return content.header.kind == coroutine_kind::foreign; }
  // 0: it has none, or one that is not known.
  std::uintptr_t parent() const noexcept {
    const bool known = is_stand_in() || (content.header.flags & header_flag::parent_has_header);
    return known ? reinterpret_cast<std::uintptr_t>(content.header.continuation.handle.address()) : 0;
  }
};

// The tasks that wait for a frame, innermost first: calls visit(frame) for each, until it returns false.
template <class Visit>
void visit_awaiters(const task_frame& inner, Visit visit) noexcept {
  task_frame frame = inner;
  for (int steps = 4096; steps != 0; --steps) {
    if (const std::uintptr_t parent = frame.parent(); parent == 0 || !frame.read(parent)) return;
    if (frame.is_stand_in()) continue;
    if (!frame.is_task() || !visit(frame)) return;
  }
}

bool awaits(const task_frame& outer, const task_frame& inner) noexcept {
  bool found = false;
  visit_awaiters(inner, [&](const task_frame& frame) {
    found = frame.address == outer.address;
    return !found;
  });
  return found;
}

}  // namespace

// --- the detector

std::uint32_t stack_probe::request(activity_mark stalled) noexcept {
  stalled_ = stalled;
  const std::uint32_t number = ++number_ & 0xFF;
  // ORDER: release, pairs with the compare-exchange in on_signal(): the handler reads what it compares.
  word_.store(word_of(number, requested), std::memory_order_release);
  return number;
}

bool stack_probe::receive(std::uint32_t number, duration patience) noexcept {
  const std::uint32_t done = word_of(number, copied);
  const time_point until = deadline_after(steady_clock().now(), patience);
  for (bool late = false;;) {
    // ORDER: acquire, pairs with the store in on_signal(): the copy is visible.
    std::uint32_t word = word_.load(std::memory_order_acquire);
    if (word == done) return fits_;
    // ORDER: relaxed, pairs with the compare-exchange in on_signal(): the handler has not begun, and touches nothing.
    if (late && word == word_of(number, requested) &&
        word_.compare_exchange_strong(word, idle, std::memory_order_relaxed, std::memory_order_relaxed))
      return false;
    late = !futex_wait_until(word_, word, late ? time_point::max() : until) && steady_clock().now() >= until;
  }
}

// --- the worker

void stack_probe::begin() noexcept {
  const native_stack own = stack_of_this_thread();
  own_stack_ = {own.low, own.high};
}

bool stack_probe::on_signal(std::uint32_t number, activity_mark present, const void* context) noexcept {
  std::uint32_t expected = word_of(number, requested);
  // ORDER: acquire, pairs with the store in request(); relaxed on failure: nothing is read.
  if (!word_.compare_exchange_strong(expected, word_of(number, copying), std::memory_order_acquire,
                                     std::memory_order_relaxed))
    return false;
  frame_count_ = awaiter_count_ = 0;
  fits_ = present.turn == stalled_.turn && present.running == stalled_.running;
  if (fits_) copy(interrupted_code(context));
  // ORDER: release, pairs with the load in receive().
  word_.store(word_of(number, copied), std::memory_order_release);
  futex_wake_all(word_);
  return true;
}

void stack_probe::copy(const interrupted_code& code) noexcept {
  if (code.instruction == 0) return;
  stack_ = {};
  last_ = 0;
  visit_native_frames(code, &stack_probe::visit, this);
  find_awaiters(code);
}

bool stack_probe::visit(void* self, const native_frame& frame) noexcept {
  return static_cast<stack_probe*>(self)->add(frame);
}

// The interrupted instruction is right wherever the stack pointer is.
bool stack_probe::add(const native_frame& frame) noexcept {
  const std::uintptr_t at = frame.stack_pointer;
  const bool first = frame_count_ == 0;
  if (!first && stack_.contains(at) && at <= last_) return false;
  if (!stack_.contains(at)) stack_ = own_stack_.contains(at) ? own_stack_ : stack_bounds_at(at);
  const bool known = stack_.contains(at);
  if (!first && !known) return false;
  last_ = at;
  functions_[frame_count_] = frame.function;
  frames_[frame_count_++] = reinterpret_cast<const void*>(frame.address);
  return known && frame_count_ != most;
}

bool stack_probe::has_function(std::uintptr_t function) const noexcept {
  const auto end = functions_.begin() + static_cast<std::ptrdiff_t>(frame_count_);
  return function != 0 && std::find(functions_.begin(), end, function) != end;
}

// The words from the stack pointer up to the end of the stack, or to a limit. Copied, because a sanitizer knows which
// of them no code may read.
template <class Visit>
void stack_probe::visit_stack(std::uintptr_t stack_pointer, Visit visit) const noexcept {
  std::array<std::uintptr_t, 64> words;
  const std::uintptr_t from = stack_pointer & ~(sizeof(void*) - 1);
  const stack_bounds stack = own_stack_.contains(from) ? own_stack_ : stack_bounds_at(from);
  if (!stack.contains(from)) return;
  std::size_t rest = std::min(most_words, (stack.high - from) / sizeof(void*));
  for (std::uintptr_t at = from; rest != 0; at += sizeof words) {
    const std::size_t count = std::min(rest, words.size());
    if (!copy_memory(words.data(), reinterpret_cast<const void*>(at), count * sizeof(void*))) return;
    for (const std::uintptr_t word : std::span(words).first(count)) visit(word);
    rest -= count;
  }
}

// A task runs on the stack that was interrupted: a fiber that awaits a task is suspended.
void stack_probe::find_awaiters(const interrupted_code& code) noexcept {
  const void* const coroutine = context::coroutine_of(stalled_.running);
  if (!coroutine) return;
  task_frame inner, candidate;
  bool unique = true;
  const auto consider = [&](std::uintptr_t word) {
    if (word % (2 * sizeof(void*)) != 0 || word < 4096 || word == inner.address || !candidate.read(word)) return;
    if (!candidate.is_task() || !has_function(candidate.function())) return;
    if (context::coroutine_of(candidate.content.header.ctx) != coroutine) return;
    if (inner.address == 0 || awaits(inner, candidate)) inner = candidate;
    else if (!awaits(candidate, inner)) unique = false;
  };
  for (const std::uintptr_t word : code.registers) consider(word);
  visit_stack(code.stack_pointer, consider);
  if (inner.address == 0 || !unique) return;
  visit_awaiters(inner, [&](const task_frame& frame) {
    awaiters_[awaiter_count_++] = reinterpret_cast<const void*>(frame.function());
    return awaiter_count_ != most;
  });
}

}}}  // namespace hocket::detail
