#include <hocket/base/fatal.hpp>
#include <hocket/base/memory_source.hpp>
#include <hocket/base/seam/signal_fence.hpp>
#include <hocket/base/seam/valgrind.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/detail/called_stack.hpp>
#include <hocket/fiber/detail/packing.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>

#include "fiber/canary.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

bool is_pinned(control_block& block) noexcept {
  return (block.header.flags & fiber_flag::scheduled) != 0 && scheduled_fiber::from_block(block).pinned();
}

// The low end of the frames of a fiber that does not run, or of its other data.
std::byte* bottom_of(const control_block& block, const fiber_record& record) noexcept {
  const bool frames_elsewhere = machine::fibers_are_threads && (block.header.flags & header_flag::started) != 0;
  if (frames_elsewhere || block.finished()) return record.base();
  const called_stack* call = record.calls;
  while (call && call->outer) call = call->outer;
  auto* lowest = static_cast<std::byte*>(call ? call->caller_record : block.record);
  if constexpr (machine::kept_below_record == 0) return lowest;
  const auto free_bytes =
      static_cast<std::size_t>(lowest - stack_pool::stack_of(const_cast<control_block*>(&block)).low);
  return lowest - std::min(machine::kept_below_record, free_bytes);
}

bool can_hibernate(control_block& block, fiber_record& record) noexcept {
  if (machine::fibers_are_threads || !block.record || block.finished()) return false;
  if ((block.header.reserved & (stack_bit::packed | stack_bit::copied)) != 0 || record.calls || is_pinned(block))
    return false;
  return static_cast<std::size_t>(record.top() - static_cast<std::byte*>(block.record)) <=
             packing_batch::largest_image &&
         record.pool->is_guarded() && !stack_depot::is_of_source(&block);
}

// The pages of a packed fiber that held the data in its image.
memory_range live_pages(const control_block& block) noexcept {
  const auto& image = *static_cast<const stack_image*>(block.record);
  return pages_of(image.from(), image.top());
}

void set_packed(control_block& block, fiber_record& record, stack_image& image) noexcept {
  image.record = block.record;
  signal_fence();  // an enumeration finds a complete image (enumeration.hpp)
  block.record = &image;
  block.header.reserved = (block.header.reserved & ~stack_bit::aged) | stack_bit::packed;
  block.header.flags |= fiber_flag::idle;
  record.annotation.on_pack(image.find(image.from()), image.size());
}

fiber_record& restore_frames(control_block& block, stack_image& image) noexcept {
  if (under_memcheck) [[unlikely]]
    allow_stack_access(image.from(), image.size());
  image.restore();
  signal_fence();  // likewise the frames
  block.record = image.record;
  block.header.reserved &= ~(stack_bit::packed | stack_bit::guarded);
  fiber_record& record = fiber_record::below(image.top());
  record.annotation.on_unpack(image.find(image.from()), image.size());
  return record;
}

}  // namespace

bool packing_batch::add(control_block& block) noexcept {
  expects(block.thread().id == machine::thread_id(), "a coroutine was hibernated by another thread",
          "do it on the thread that created it");
  fiber_record& record = fiber_record::from_block(block);
  if (!can_hibernate(block, record)) return false;
  const stack_ref stack = stack_pool::stack_of(&block);
  check_canary(block);
  if (count_ == capacity) flush();
  stack_image* image = stack_image::save(bottom_of(block, record), record.top());
  if (!image) return false;
  hibernation_statistics& usage = block.thread().hibernation;
  usage.packed += 1;
  usage.packs += 1;
  usage.image_bytes += image->footprint();
  set_packed(block, record, *image);
  blocks_[count_] = &block;
  pages_[count_++] = pages_of(stack);
  return true;
}

void packing_batch::flush() noexcept {
  const std::size_t count = std::exchange(count_, 0);
  if (!drop_pages(pages_, count)) return;
  for (std::size_t i = 0; i < count; ++i) pages_[i] = live_pages(*blocks_[i]);  // all are packed still
  if (!forbid_pages(pages_, count)) return;
  for (std::size_t i = 0; i < count; ++i) blocks_[i]->header.reserved |= stack_bit::guarded;
}

// --- copied stacks

namespace {

// False: there is no memory to save them.
bool save_resident(control_block& resident) noexcept {
  fiber_record& record = fiber_record::from_block(resident);
  expects(resident.thread().id == machine::thread_id(), "one copied stack was used by two threads",
          "give each thread a pool of its own", record.name);
  expects(resident.record != nullptr || resident.finished(),
          "a coroutine was made, resumed or destroyed by one that runs on the same copied stack",
          "let them have different pools, or let one of them have a stack of its own", record.name);
  check_canary(resident);
  stack_image* image = stack_image::save(bottom_of(resident, record), record.top(), record.image);
  if (image) set_packed(resident, record, *image);
  return image != nullptr;
}

}  // namespace

bool take_copied_stack(void* cell) noexcept {
  void*& resident = stack_depot::resident_of(cell);
  if (resident && resident != cell && !save_resident(*static_cast<control_block*>(resident))) return false;
  resident = cell;
  return true;
}

void leave_copied_stack(fiber_record& record) noexcept {
  void*& resident = stack_depot::resident_of(record.block);
  if (resident == record.block) resident = nullptr;
  stack_image::free(record.image);
}

// --- coming back

namespace {

void unpack_copied(control_block& block, stack_image& image) noexcept {
  image.prefetch();
  const bool taken = take_copied_stack(&block);
  expects(taken, "there is no memory to save the frames on a copied stack", "raise the memory limit of the process",
          fiber_record::from_block(block).name);
  fiber_record& record = restore_frames(block, image);
  if (keeps_released_memory()) record.image = &image;
  else stack_image::free(&image);
}

void unpack_hibernated(control_block& block, stack_image& image) noexcept {
  image.prefetch();
  const stack_ref stack = stack_pool::stack_of(&block);
  hibernation_statistics& usage = block.thread().hibernation;
  usage.packed -= 1;
  usage.unpacks += 1;
  usage.image_bytes -= image.footprint();
  if (block.header.reserved & stack_bit::guarded) allow_pages(live_pages(block));
  if (stack.canary) write_canary(stack.low);
  restore_frames(block, image);
  stack_image::free(&image);
}

}  // namespace

void unpack(control_block& block) noexcept {
  auto& image = *static_cast<stack_image*>(block.record);
  if (block.header.reserved & stack_bit::copied) unpack_copied(block, image);
  else unpack_hibernated(block, image);
}

scheduled_fiber* pin_stack(control_block& fiber, const char* subject) noexcept {
  expects((fiber.header.reserved & stack_bit::copied) == 0,
          "something that others write to lies on a copied stack, which another fiber may have by then",
          "allocate it elsewhere, or spawn the fiber with a stack of its own", subject);
  scheduled_fiber& pinned = scheduled_fiber::from_block(fiber);
  pinned.pin();
  return &pinned;
}

bool refers_to_stack(const void* data, std::size_t size, control_block& block) noexcept {
  const stack_ref stack = stack_pool::stack_of(&block);
  const auto low = reinterpret_cast<std::uintptr_t>(stack.low);
  const auto* bytes = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= size; i += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    if (word - low < stack.size()) return true;
  }
  return false;
}

}}}  // namespace hocket::detail
