#include "stack/slab_table.hpp"

#include <hocket/stack/seam/fault.hpp>

#include "stack/memory.hpp"
#include "stack/slab.hpp"

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit slab_chunk slab_table;

namespace {

// ORDER: acquire, pairs with the exchange in append_chunk(): the chunk is whole.
slab_chunk* chunk_after(const slab_chunk& one) noexcept { return one.next.load(std::memory_order_acquire); }

bool exchange_entry(slab_chunk& chunk, stack_slab* from, stack_slab* to) noexcept {
  for (auto& entry : chunk.entries) {
    // ORDER: relaxed, pairs with nothing: a look before the exchange.
    if (entry.load(std::memory_order_relaxed) != from) continue;
    stack_slab* expected = from;
    // ORDER: release, pairs with the load in slab_at(): the slab is whole. On failure relaxed: the search goes on.
    if (entry.compare_exchange_strong(expected, to, std::memory_order_release, std::memory_order_relaxed)) return true;
  }
  return false;
}

// The chunk behind `last`, which may be another thread's by now; null: there is no memory.
slab_chunk* append_chunk(slab_chunk& last) noexcept {
  const std::size_t size = round_up(sizeof(slab_chunk), page_size());
  const auto memory = reserve_memory(size, page_size());
  if (!memory) return nullptr;
  auto* const made = ::new (static_cast<void*>(*memory)) slab_chunk;
  slab_chunk* none = nullptr;
  // ORDER: release, pairs with the load in chunk_after(): the chunk is whole. On failure relaxed: that load follows.
  if (last.next.compare_exchange_strong(none, made, std::memory_order_release, std::memory_order_relaxed)) return made;
  made->~slab_chunk();
  return_memory(*memory, size);
  return chunk_after(last);
}

}  // namespace

bool enter_slab(stack_slab& slab) noexcept {
  slab_chunk* at = &slab_table;
  while (!exchange_entry(*at, nullptr, &slab)) {
    slab_chunk* const next = chunk_after(*at);
    at = next ? next : append_chunk(*at);
    if (!at) return false;
  }
  return true;
}

void leave_slab(stack_slab& slab) noexcept {
  slab_chunk* at = &slab_table;
  while (at && !exchange_entry(*at, &slab, nullptr)) at = chunk_after(*at);
}

stack_slab* slab_at(std::uintptr_t address) noexcept {
  for (slab_chunk* at = &slab_table; at; at = chunk_after(*at)) {
    for (auto& entry : at->entries) {
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
