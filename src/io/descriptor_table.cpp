#include <hocket/io/seam/descriptor_table.hpp>

#include <array>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;
using primitive::thread_mutex;

namespace {

constexpr std::uint32_t per_block = 64, most_blocks = 1 << 15;  // two million descriptors

// An idle connection needs one open_descriptor.
static_assert(sizeof(void*) != 8 || sizeof(open_descriptor) <= 304);

struct block {
  alignas(open_descriptor) std::array<std::byte, per_block * sizeof(open_descriptor)> storage;
  open_descriptor& operator[](std::uint32_t index) noexcept {
    return *std::launder(reinterpret_cast<open_descriptor*>(storage.data() + index * sizeof(open_descriptor)));
  }
};

// Guarded by the mutex, except the blocks: any thread reads them.
constinit thread_mutex mutex;
constinit std::array<primitive::atomic<block*>, most_blocks> blocks;
std::uint32_t block_count = 0;
open_descriptor* first_unused = nullptr;

// Under the mutex.
void push_unused(open_descriptor& record) noexcept { record.set_next_unused(std::exchange(first_unused, &record)); }

// Under the mutex.
bool grow() noexcept {
  if (block_count == most_blocks) return false;
  auto* const created = new (std::nothrow) block;
  if (!created) return false;
  for (std::uint32_t i = per_block; i-- > 0;)
    push_unused(*::new (created->storage.data() + i * sizeof(open_descriptor))
                    open_descriptor(block_count * per_block + i));
  // ORDER: release, pairs with the load in find(): a reader sees constructed descriptors.
  blocks[block_count++].store(created, std::memory_order_release);
  return true;
}

}  // namespace

open_descriptor* descriptor_table::take(backend& source, int fd, descriptor_kind kind, void* data) noexcept {
  open_descriptor* record = nullptr;
  {
    locked guard(mutex);
    if (!first_unused && !grow()) return nullptr;
    record = first_unused;
    first_unused = record->next_unused();
  }
  record->open(source, fd, kind, data);
  return record;
}

// take() returns the last released descriptor first: its lines are in the cache.
void descriptor_table::give_back(open_descriptor& record) noexcept {
  locked guard(mutex);
  push_unused(record);
}

std::uint64_t descriptor_table::tag_of(const open_descriptor& record) noexcept {
  return std::uint64_t{record.generation()} << 32 | record.index();
}

open_descriptor* descriptor_table::find(std::uint64_t tag) noexcept {
  const auto index = static_cast<std::uint32_t>(tag);
  // ORDER: acquire, pairs with the store in grow().
  block* const records = blocks[index / per_block].load(std::memory_order_acquire);
  open_descriptor& record = (*records)[index % per_block];
  return record.generation() == tag >> 32 ? &record : nullptr;
}

void descriptor_table::end_when_idle(std::uint64_t family) noexcept {
  for (const primitive::atomic<block*>& entry : blocks) {
    // ORDER: acquire, pairs with the store in grow().
    block* const records = entry.load(std::memory_order_acquire);
    if (!records) return;
    for (std::uint32_t i = 0; i < per_block; ++i) (*records)[i].end_when_idle(family);
  }
}

}}}  // namespace hocket::detail
