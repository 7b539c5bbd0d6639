// The visit of all cells, for for_each_cell().
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Calls visit(with, cell, ahead) for the cell of each stack that
// was in use at some time; `ahead` is one that comes soon, or null.
void visit_cells(void (*visit)(void* with, void* cell, void* ahead), void* with) noexcept;

}}}  // namespace hocket::detail
