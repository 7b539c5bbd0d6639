// Linux: mincore, madvise.
#include "stack/resident.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

std::byte* first_resident(std::byte* low, std::byte* high, std::size_t page) noexcept {
  unsigned char pages[64];
  while (low < high) {
    const std::size_t count = std::min(sizeof pages, (static_cast<std::size_t>(high - low) + page - 1) / page);
    if (::mincore(low, count * page, pages) != 0) return low;  // unknown: counts as resident
    const auto* found = std::find_if(pages, pages + count, [](unsigned char state) { return (state & 1) != 0; });
    low += static_cast<std::size_t>(found - pages) * page;
    if (found != pages + count) return low;
  }
  return high;
}

void drop_memory(std::byte* low, std::size_t size) noexcept {
  if (::madvise(low, size, MADV_DONTNEED) != 0) std::memset(low, 0, size);  // locked memory is kept
}

}}}  // namespace hocket::detail
