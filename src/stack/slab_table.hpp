// All slabs of the process, for a signal handler that has an address and looks for its owner, and for debuggers.
//
// Chunks of entries, each chunk linked to the next. The first chunk is static, the others are pages of the system's,
// made when all entries are taken, and kept to the end: so a search needs no lock, and no slab is left out. The chunks
// are searched from end to end, because entering and leaving are rare, and a search is the last thing that a process
// does.
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
  static constexpr std::size_t size = under_model ? 1 : 511;  // with the link a page; few, so that the checker grows it

  atomic<stack_slab*> entries[size]{};
  atomic<slab_chunk*> next{nullptr};  // written once
};
extern slab_chunk slab_table;

// Any thread. False: there is no memory for another chunk, and the slab is not entered.
[[nodiscard]] bool enter_slab(stack_slab& slab) noexcept;
// If it was entered.
void leave_slab(stack_slab& slab) noexcept;

// The slab whose stacks hold `address`; null if there is none. Async-signal-safe. It may be unmapped by another thread
// at any time: for those who report a fault and then end.
stack_slab* slab_at(std::uintptr_t address) noexcept;

// Calls visit(slab) for each, while none comes or goes. Async-signal-safe.
template <class Visit>
void for_each_slab(Visit&& visit) noexcept {
  // ORDER: acquire, pairs with the exchange in append_chunk(): the chunk is whole.
  for (slab_chunk* at = &slab_table; at; at = at->next.load(std::memory_order_acquire)) {
    for (auto& entry : at->entries) {
      // ORDER: acquire, pairs with the exchange in exchange_entry(): the slab is whole.
      if (stack_slab* slab = entry.load(std::memory_order_acquire)) visit(*slab);
    }
  }
}

}}}  // namespace hocket::detail
