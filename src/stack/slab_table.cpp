#include "stack/slab_table.hpp"

#include <hocket/stack/seam/fault.hpp>

#include "stack/memory.hpp"
#include "stack/slab.hpp"

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit slab_chunk slab_table;

namespace {

// ORDER: acquire, pairs with the exchange in append_chunk(): the chunk is constructed.
slab_chunk* chunk_after(const slab_chunk& chunk) noexcept { return chunk.next.load(std::memory_order_acquire); }

bool exchange_entry(slab_chunk& chunk, stack_slab* from, stack_slab* to) noexcept {
  for (auto& entry : chunk.entries) {
    // ORDER: relaxed, pairs with nothing: a cheap check before the exchange.
    if (entry.load(std::memory_order_relaxed) != from) continue;
    stack_slab* expected = from;
    // ORDER: release, pairs with the load in slab_at(): the slab is constructed. Relaxed on failure: the search
    // continues.
    if (entry.compare_exchange_strong(expected, to, std::memory_order_release, std::memory_order_relaxed)) return true;
  }
  return false;
}

// The chunk after `last`, which another thread may have appended; null: there is no memory.
slab_chunk* append_chunk(slab_chunk& last) noexcept {
  const std::size_t size = round_up(sizeof(slab_chunk), page_size());
  const auto memory = reserve_memory(size, page_size());
  if (!memory) return nullptr;
  auto* const created = ::new (static_cast<void*>(*memory)) slab_chunk;
  slab_chunk* expected = nullptr;
  // ORDER: release, pairs with the load in chunk_after(): the chunk is constructed. On failure relaxed: that load
  // follows.
  if (last.next.compare_exchange_strong(expected, created, std::memory_order_release, std::memory_order_relaxed))
    return created;
  created->~slab_chunk();
  return_memory(*memory, size);
  return chunk_after(last);
}

}  // namespace

bool enter_slab(stack_slab& slab) noexcept {
  slab_chunk* chunk = &slab_table;
  while (!exchange_entry(*chunk, nullptr, &slab)) {
    slab_chunk* const next = chunk_after(*chunk);
    chunk = next ? next : append_chunk(*chunk);
    if (!chunk) return false;
  }
  return true;
}

void leave_slab(stack_slab& slab) noexcept {
  slab_chunk* chunk = &slab_table;
  while (chunk && !exchange_entry(*chunk, &slab, nullptr)) chunk = chunk_after(*chunk);
}

stack_slab* slab_at(std::uintptr_t address) noexcept {
  for (slab_chunk* chunk = &slab_table; chunk; chunk = chunk_after(*chunk)) {
    for (auto& entry : chunk->entries) {
      // ORDER: acquire, pairs with the exchange in exchange_entry().
      stack_slab* slab = entry.load(std::memory_order_acquire);
      if (slab && slab->holds(address)) return slab;
    }
  }
  return nullptr;
}

void* cell_at(std::uintptr_t address) noexcept {
  const stack_slab* slab = slab_at(address);
  return slab ? slab->cell_at(address) : nullptr;
}

}}}  // namespace hocket::detail
