// What others may read of stacks that they do not own: the cells of all stacks, the stack that an address is on, and
// how deep a stack has been used. These functions take no lock and allocate nothing. Async-signal-safe.
#pragma once
#include <hocket/stack/detail/inspection.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// For collectors and debuggers, while no coroutine runs: calls visit(cell, ahead) for the cell of each stack that was
// in use at some time; `ahead` is one that is visited soon, or null.
template <class Visit>
void for_each_cell(Visit&& visit) noexcept {
  using called = std::remove_reference_t<Visit>;
  visit_cells([](void* with, void* cell, void* ahead) { (*static_cast<called*>(with))(cell, ahead); },
              const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

// The cell of the stack that `address` is on; of a shared stack, the cell of the fiber that is there. Null: there is no
// such fiber, or the address is on no stack of a depot.
void* cell_on(std::uintptr_t address) noexcept;

// Whether the address is on some stack of a depot.
bool is_on_any_stack(std::uintptr_t address) noexcept;

// How deep a stack has been used: the distance from its top to the lowest word that is not zero.
//
// Memory of a stack that was never used is zero. With stack_options::measure it is so for every coroutine: a stack that
// returns is measured, and its memory given up, so that the next one starts with zeros. Nothing is painted, and a
// pool that does not measure does nothing of this. The measure counts writes: a local array without a write, below
// which nothing was called, does not count; memory that was swapped out is not seen.
//
// Costs, of a pool that measures: some microseconds at the end of each coroutine, and the page faults of the next one.
// Where fibers are threads (HOCKET_BACKEND=thread) their frames lie elsewhere: the figures mean nothing there.
//
// In bytes; 0: never written. Of a stack that is in use it is the use so far. Of a pool that does not measure it is an
// upper bound: earlier coroutines have left traces on the stack. Any thread, if the stack stays acquired. O(pages)
// without touching memory that is not there. Async-signal-safe.
std::size_t high_water_of(const stack_ref& stack) noexcept;

}}}  // namespace hocket::detail
