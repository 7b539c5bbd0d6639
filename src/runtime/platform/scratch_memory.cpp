#include <hocket/base/seam/platform/config.hpp>

#include "runtime/platform/scratch_memory.hpp"

#include <sys/mman.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

scratch_memory::scratch_memory(std::size_t bytes) noexcept : bytes_(bytes), start_(nullptr) {
  if (bytes == 0) return;
  void* mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping != MAP_FAILED) start_ = mapping;
}

scratch_memory::~scratch_memory() {
  if (start_) ::munmap(start_, bytes_);
}

}}}  // namespace hocket::detail
