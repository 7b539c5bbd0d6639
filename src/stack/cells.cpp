#include <hocket/stack/seam/inspection.hpp>

#include "stack/slab.hpp"
#include "stack/slab_table.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t ahead = 8;  // of a look ahead: enough for a miss of the cache

}  // namespace

void visit_cells(void (*visit)(void*, void*, void*), void* with) noexcept {
  for_each_slab([=](stack_slab& slab) {
    const std::size_t count = slab.lent();
    for (std::size_t i = 0; i < count; ++i)
      visit(with, slab.cell(i), i + ahead < count ? slab.cell(i + ahead) : nullptr);
  });
}

void* cell_on(std::uintptr_t address) noexcept {
  stack_slab* const slab = slab_at(address);
  if (!slab) return nullptr;
  return slab->is_shared() ? slab->resident : slab->cell_at(address);
}

bool is_on_any_stack(std::uintptr_t address) noexcept { return slab_at(address) != nullptr; }

}}}  // namespace hocket::detail
