// Memory from the system, without the allocator. A dump needs it, because a thread may be stopped inside the allocator.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class scratch_memory {
 public:
  explicit scratch_memory(std::size_t bytes) noexcept;
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;
  ~scratch_memory();

  void* get() const noexcept { return start_; }  // zeroed; null: the system had none

 private:
  const std::size_t bytes_;
  void* start_;
};

}}}  // namespace hocket::detail
