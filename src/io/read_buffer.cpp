#include <hocket/io/detail/read_buffer.hpp>

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

static constexpr std::size_t least_room = 4096;

std::size_t earliest_end(std::string_view bytes, std::string_view delimiter) noexcept {
  std::size_t part = std::min(bytes.size(), delimiter.size() - std::min<std::size_t>(delimiter.size(), 1));
  while (!bytes.ends_with(delimiter.substr(0, part))) --part;
  return bytes.size() - part;
}

mutable_buffer read_buffer::room(std::size_t wanted, std::size_t most) {
  const std::size_t kept = end_ - begin_;
  const bool fits = lent_.empty() && own_.size() - end_ >= std::max<std::size_t>(wanted - std::min(wanted, kept), 1);
  if (!fits) move_to(std::min(most, std::max({wanted, 2 * kept, least_room})));
  return {own_.data() + end_, own_.size() - end_};
}

// `room` bytes in all, with what is unread at the beginning.
void read_buffer::move_to(std::size_t room) {
  const std::string_view kept = unread();
  std::vector<char, frame_allocator<char>> fresh(std::max(room, kept.size()));
  std::copy(kept.begin(), kept.end(), fresh.begin());
  own_.swap(fresh);
  end_ = kept.size();
  begin_ = 0;
  lent_.release();
}

}}}  // namespace hocket::detail
