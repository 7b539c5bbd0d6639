#include <hocket/base/seam/copy_memory.hpp>
#include <hocket/core/context.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

// What was a context may be anything by now, and its parents form a circle: so many groups within groups are looked at.
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
