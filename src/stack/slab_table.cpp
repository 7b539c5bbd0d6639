#include "stack/slab_table.hpp"

#include <hocket/stack/detail/fault.hpp>

#include "stack/slab.hpp"

namespace hocket::inline HOCKET_ABI::detail {

namespace {

constexpr std::size_t most_slabs = under_model ? 3 : 2048;  // the checker steps through each entry

constinit atomic<stack_slab*> table[most_slabs]{};

bool exchange_entry(stack_slab* from, stack_slab* to) noexcept {
  for (auto& entry : table) {
    // ORDER: relaxed, pairs with nothing: a look before the exchange.
    if (entry.load(std::memory_order_relaxed) != from) continue;
    stack_slab* expected = from;
    // ORDER: release, pairs with the load in slab_at(): the slab is whole. On failure relaxed: the search goes on.
    if (entry.compare_exchange_strong(expected, to, std::memory_order_release, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace

void enter_slab(stack_slab& slab) noexcept { static_cast<void>(exchange_entry(nullptr, &slab)); }
void leave_slab(stack_slab& slab) noexcept { static_cast<void>(exchange_entry(&slab, nullptr)); }

stack_slab* slab_at(std::uintptr_t address) noexcept {
  for (auto& entry : table) {
    // ORDER: acquire, pairs with the exchange in exchange_entry().
    stack_slab* slab = entry.load(std::memory_order_acquire);
    if (slab && slab->holds(address)) return slab;
  }
  return nullptr;
}

void* cell_at(std::uintptr_t address) noexcept {
  const stack_slab* slab = slab_at(address);
  return slab ? slab->cell_at(address) : nullptr;
}

}  // namespace hocket::inline HOCKET_ABI::detail
