// The table of all slabs of the process. A signal handler finds the slab of an address in it; debuggers read it, too.
//
// The table is a list of chunks of entries. The first chunk is static; further chunks are pages of the system,
// allocated when all entries are used, and never freed. So a search needs no lock and misses no slab. Searches are
// linear, because slabs enter and leave rarely, and a process that looks up a fault ends afterwards.
//
// A debugger finds the table by its name, `hocket::slab_table`, in a live process and in a core file alike
// (tools/gdb/hocket_gdb/cells.py).
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class stack_slab;

struct slab_chunk {
  static constexpr std::size_t size =
      under_model ? 1 : 511;  // with the link a page; 1 for the model checker, so that the table grows

  atomic<stack_slab*> entries[size]{};
  atomic<slab_chunk*> next{nullptr};  // written once
};
extern slab_chunk slab_table;

// Adds a slab. Any thread. False: there is no memory for another chunk, and the slab is not in the table.
[[nodiscard]] bool enter_slab(stack_slab& slab) noexcept;
// Removes the slab, if it is in the table.
void leave_slab(stack_slab& slab) noexcept;

// The slab with the stack that contains `address`; null if there is none. Async-signal-safe. Another thread may unmap
// the slab at any time: only for a handler that reports a fault and then ends the process.
stack_slab* slab_at(std::uintptr_t address) noexcept;

// Calls visit(slab) for each slab, while none enters or leaves. Async-signal-safe.
template <class Visit>
void for_each_slab(Visit&& visit) noexcept {
  // ORDER: acquire, pairs with the exchange in append_chunk(): the chunk is constructed.
  for (slab_chunk* chunk = &slab_table; chunk; chunk = chunk->next.load(std::memory_order_acquire)) {
    for (auto& entry : chunk->entries) {
      // ORDER: acquire, pairs with the exchange in exchange_entry(): the slab is constructed.
      if (stack_slab* slab = entry.load(std::memory_order_acquire)) visit(*slab);
    }
  }
}

}}}  // namespace hocket::detail
