// The cells of all stacks, for collectors and debuggers, while no coroutine runs. These functions take no lock and
// allocate nothing. Async-signal-safe.
#pragma once
#include <hocket/stack/stack_pool.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Calls visit(with, cell, ahead) for the cell of each stack that was in use at some time; `ahead` is one that comes
// soon, or null.
void visit_cells(void (*visit)(void* with, void* cell, void* ahead), void* with) noexcept;

template <class Visit>
void for_each_cell(Visit&& visit) noexcept {
  using called = std::remove_reference_t<Visit>;
  visit_cells([](void* with, void* cell, void* ahead) { (*static_cast<called*>(with))(cell, ahead); },
              const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

// The cell of the stack that `address` is on, of a shared stack the cell of who is there. Null: nobody is, or the
// address is on no stack of a depot.
void* cell_on(std::uintptr_t address) noexcept;

// Whether the address is on some stack of a depot.
bool is_on_any_stack(std::uintptr_t address) noexcept;

}}}  // namespace hocket::detail
