#include <hocket/base/seam/copy_memory.hpp>
#include <hocket/core/context.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

// The memory may have been reused, and its parents may form a circle: so the number of groups within groups is limited.
const void* context::coroutine_of(const context* other) noexcept {
  for (int remaining = 64; other && remaining != 0; --remaining) {
    const strand_state* strand = nullptr;
    const context* parent = nullptr;
    if (!copy_memory(&strand, &other->strand_, sizeof strand)) return nullptr;
    if (strand) return strand;
    if (!copy_memory(&parent, &other->parent_, sizeof parent)) return nullptr;
    other = parent;
  }
  return nullptr;
}

}}  // namespace hocket
