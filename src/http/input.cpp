#include "http/input.hpp"

#include <hocket/core/frame_memory.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

input::block::block(std::size_t size) : data_(static_cast<char*>(hocket::detail::allocate_frame(size))), size_(size) {}
input::block::block(block&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
input::block& input::block::operator=(block&& other) noexcept {
  block old(std::move(*this));
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}
input::block::~block() {
  if (data_) hocket::detail::release_frame(data_, size_);
}

// The head may begin anywhere in the block. Its bytes move to the begin if there is no room behind them, and into a
// block of twice the size if that is not enough.
mutable_buffer input::extend(std::size_t max) {
  const bool is_own = own_.holds(unread_.data());
  if (is_own) {
    char* const end = own_.data() + (unread_.data() - own_.data()) + unread_.size();
    const auto room = static_cast<std::size_t>(own_.data() + own_.size() - end);
    if (room != 0) return {end, room};
  }
  const std::size_t size = std::clamp(2 * unread_.size(), small_block, std::max(max, small_block));
  if (is_own && own_.size() >= size) {
    std::memmove(own_.data(), unread_.data(), unread_.size());
  } else {
    block larger(size);
    if (!unread_.empty()) std::memcpy(larger.data(), unread_.data(), unread_.size());
    own_ = std::move(larger);
    lent_.release();
    behind_ = block();
  }
  unread_ = {own_.data(), unread_.size()};
  return {own_.data() + unread_.size(), own_.size() - unread_.size()};
}

mutable_buffer input::refill() {
  if (!behind_.data()) behind_ = block(large_block);
  unread_ = {behind_.data(), 0};
  return {behind_.data(), behind_.size()};
}

void input::finish_request() noexcept {
  if (!behind_.data()) return;
  own_ = std::move(behind_);
  lent_.release();
  if (!own_.holds(unread_.data())) unread_ = {};
}

}}}}  // namespace hocket::http::detail
