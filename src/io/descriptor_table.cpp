#include <hocket/io/seam/descriptor_table.hpp>

#include <array>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;
using primitive::thread_mutex;

namespace {

constexpr std::uint32_t per_block = 64, most_blocks = 1 << 15;  // two million descriptors

// Each idle connection has one.
static_assert(sizeof(void*) != 8 || sizeof(open_descriptor) <= 304);

struct block {
  alignas(open_descriptor) std::array<std::byte, per_block * sizeof(open_descriptor)> places;
  open_descriptor& operator[](std::uint32_t place) noexcept {
    return *std::launder(reinterpret_cast<open_descriptor*>(places.data() + place * sizeof(open_descriptor)));
  }
};

// Guarded by the mutex, but for the blocks, which are read by any thread.
constinit thread_mutex mutex;
constinit std::array<primitive::atomic<block*>, most_blocks> blocks;
std::uint32_t block_count = 0;
open_descriptor* first_unused = nullptr;

// Under the mutex.
void push_unused(open_descriptor& one) noexcept { one.set_next_unused(std::exchange(first_unused, &one)); }

// Under the mutex.
bool grow() noexcept {
  if (block_count == most_blocks) return false;
  auto* const fresh = new (std::nothrow) block;
  if (!fresh) return false;
  for (std::uint32_t i = per_block; i-- > 0;)
    push_unused(*::new (fresh->places.data() + i * sizeof(open_descriptor))
                    open_descriptor(block_count * per_block + i));
  // ORDER: release, pairs with the load in find(): the descriptors are whole.
  blocks[block_count++].store(fresh, std::memory_order_release);
  return true;
}

}  // namespace

open_descriptor* descriptor_table::take(backend& of, int fd, descriptor_kind kind, void* data) noexcept {
  open_descriptor* one = nullptr;
  {
    locked guard(mutex);
    if (!first_unused && !grow()) return nullptr;
    one = first_unused;
    first_unused = one->next_unused();
  }
  one->open(of, fd, kind, data);
  return one;
}

// The one used last is used next: its lines are in the cache.
void descriptor_table::give_back(open_descriptor& one) noexcept {
  locked guard(mutex);
  push_unused(one);
}

std::uint64_t descriptor_table::tag_of(const open_descriptor& one) noexcept {
  return std::uint64_t{one.generation()} << 32 | one.index();
}

open_descriptor* descriptor_table::find(std::uint64_t tag) noexcept {
  const auto index = static_cast<std::uint32_t>(tag);
  // ORDER: acquire, pairs with the store in grow().
  block* const in = blocks[index / per_block].load(std::memory_order_acquire);
  open_descriptor& one = (*in)[index % per_block];
  return one.generation() == tag >> 32 ? &one : nullptr;
}

void descriptor_table::end_when_idle(std::uint64_t family) noexcept {
  for (const primitive::atomic<block*>& place : blocks) {
    // ORDER: acquire, pairs with the store in grow().
    block* const in = place.load(std::memory_order_acquire);
    if (!in) return;
    for (std::uint32_t i = 0; i < per_block; ++i) (*in)[i].end_when_idle(family);
  }
}

}}}  // namespace hocket::detail
