#include <hocket/base/fatal.hpp>
#include <hocket/context/valgrind.hpp>
#include <hocket/fiber/packing.hpp>
#include <hocket/fiber/scheduled_fiber.hpp>

#include <cstring>
#include <utility>

#include "fiber/idle_fibers.hpp"

namespace hocket::inline HOCKET_ABI::detail {
namespace {

bool on_own_stack(const fiber_record& record, const void* address) noexcept {
  return address >= record.low && address < static_cast<const void*>(&record);
}

bool is_pinned(control_block& block) noexcept {
  return (block.header.flags & fiber_flag::scheduled) != 0 && scheduled_fiber::of(block).pinned();
}

// The frames of a parked fiber begin here; null if it cannot be packed.
std::byte* bottom_of(control_block& block, const fiber_record& record) noexcept {
  if (machine::fibers_are_threads || !block.record || block.finished() || is_pinned(block)) return nullptr;
  if (!on_own_stack(record, block.record)) return nullptr;
  return static_cast<std::byte*>(block.record);
}

void set_packed(control_block& block, stack_image& image) noexcept {
  image.record = std::exchange(block.record, &image);
  block.header.reserved = (block.header.reserved & ~stack_bit::aged) | stack_bit::packed;
  block.header.flags |= fiber_flag::idle;
  fiber_record::of(block).annotation.on_pack(image.find(image.from()), image.size());
}

void bring_back(control_block& block, stack_image& image) noexcept {
  fiber_record::of(block).annotation.on_unpack(image.find(image.from()), image.size());
  if (under_valgrind) [[unlikely]]
    allow_stack_access(image.from(), image.size());
  image.restore();
  block.record = image.record;
  block.header.reserved &= ~(stack_bit::packed | stack_bit::guarded);
}

}  // namespace

bool packing_batch::add(control_block& block) noexcept {
  if (is_packed(block)) return false;
  fiber_record& record = fiber_record::of(block);
  std::byte* const bottom = bottom_of(block, record);
  if (!bottom || static_cast<std::size_t>(record.top() - bottom) > largest_image) return false;
  const stack_ref stack = stack_pool::stack_of(&block);
  if (stack.canary) check_canary(record);
  if (count_ == most) flush();
  idle_fibers* of_thread = idle_fibers::of(block.thread());
  stack_image* image = of_thread ? stack_image::save(bottom, record.top()) : nullptr;
  if (!image) return false;
  of_thread->usage.packed += 1;
  of_thread->usage.packings += 1;
  of_thread->usage.image_bytes += image->footprint();
  set_packed(block, *image);
  blocks_[count_] = &block;
  pages_[count_++] = pages_of(stack);
  return true;
}

void packing_batch::flush() noexcept {
  if (drop_pages(pages_, count_))
    for (std::size_t i = 0; i < count_; ++i) blocks_[i]->header.reserved |= stack_bit::guarded;
  count_ = 0;
}

void unpack(control_block& block) noexcept {
  auto* image = static_cast<stack_image*>(block.record);
  const stack_ref stack = stack_pool::stack_of(&block);
  hibernation_statistics& usage = block.thread().idle->usage;
  usage.packed -= 1;
  usage.wakings += 1;
  usage.image_bytes -= image->footprint();
  if (block.header.reserved & stack_bit::guarded) allow_pages(pages_of(stack));
  if (stack.canary) write_canary(stack.low);
  bring_back(block, *image);
  stack_image::free(image);
}

void wake_idle(control_block& block) noexcept {
  if (is_packed(block)) unpack(block);
  block.header.reserved &= ~stack_bit::aged;
  block.header.flags &= static_cast<std::uint8_t>(~fiber_flag::idle);
}

scheduled_fiber* pin_stack(control_block& fiber, [[maybe_unused]] const char* what,
                           [[maybe_unused]] bool certain) noexcept {
  scheduled_fiber& pinned = scheduled_fiber::of(fiber);
  pinned.pin();
  return &pinned;
}

bool refers_to_stack(const void* data, std::size_t size, control_block& block) noexcept {
  const stack_ref stack = stack_pool::stack_of(&block);
  const auto low = reinterpret_cast<std::uintptr_t>(stack.low);
  const auto* at = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= size; i += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, at + i, sizeof word);
    if (word - low < stack.size()) return true;
  }
  return false;
}

}  // namespace hocket::inline HOCKET_ABI::detail
