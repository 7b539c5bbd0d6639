// Linux: mincore, process_vm_readv, madvise.
#include "stack/resident.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hocket::inline HOCKET_ABI {

std::byte* first_resident(std::byte* low, std::byte* high, std::size_t page) noexcept {
  unsigned char there[64];
  while (low < high) {
    const std::size_t count = std::min(sizeof there, (static_cast<std::size_t>(high - low) + page - 1) / page);
    if (::mincore(low, count * page, there) != 0) return low;  // nothing is known: it is looked at
    const auto* found = std::find_if(there, there + count, [](unsigned char of) { return (of & 1) != 0; });
    low += static_cast<std::size_t>(found - there) * page;
    if (found != there + count) return low;
  }
  return high;
}

bool copy_memory(void* to, const std::byte* from, std::size_t size) noexcept {
  const iovec here{to, size};
  const iovec there{const_cast<std::byte*>(from), size};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

void drop_memory(std::byte* low, std::size_t size) noexcept {
  if (::madvise(low, size, MADV_DONTNEED) != 0) std::memset(low, 0, size);  // locked memory is kept
}

}  // namespace hocket::inline HOCKET_ABI
