#include <hocket/io/detail/read_buffer.hpp>

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

static constexpr std::size_t min_allocation = 4096;

std::size_t earliest_end(std::string_view bytes, std::string_view delimiter) noexcept {
  std::size_t part = std::min(bytes.size(), delimiter.size() - std::min<std::size_t>(delimiter.size(), 1));
  while (!bytes.ends_with(delimiter.substr(0, part))) --part;
  return bytes.size() - part;
}

mutable_buffer read_buffer::room(std::size_t min_size, std::size_t max_size) {
  const std::size_t unread_size = end_ - begin_;
  const bool fits =
      borrowed_.empty() && own_.size() - end_ >= std::max<std::size_t>(min_size - std::min(min_size, unread_size), 1);
  if (!fits) reallocate(std::min(max_size, std::max({min_size, 2 * unread_size, min_allocation})));
  return {own_.data() + end_, own_.size() - end_};
}

// Copies the unread bytes to the beginning of new memory of at least `size` bytes.
void read_buffer::reallocate(std::size_t size) {
  const std::string_view bytes = unread();
  std::vector<char, frame_allocator<char>> memory(std::max(size, bytes.size()));
  std::copy(bytes.begin(), bytes.end(), memory.begin());
  own_.swap(memory);
  end_ = bytes.size();
  begin_ = 0;
  borrowed_.release();
}

}}}  // namespace hocket::detail
