#include <hocket/core/frame_memory.hpp>
#include <hocket/http/detail/output.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

void output::grow(std::size_t count) {
  const std::size_t capacity = std::max({first_block, 2 * capacity_, size_ + count});
  auto* const data = static_cast<char*>(hocket::detail::allocate_frame(capacity));
  if (size_ != 0) std::memcpy(data, data_, size_);
  const std::size_t size = size_;
  release();
  data_ = data;
  size_ = size;
  capacity_ = capacity;
}

void output::release() noexcept {
  if (data_) hocket::detail::release_frame(data_, capacity_);
  data_ = nullptr;
  size_ = capacity_ = 0;
}

}}}}  // namespace hocket::http::detail
