// What a buffered reader has read and not given out yet: lent bytes, or bytes in memory of its own.
//
// Bytes that were lent are given out where they lie. When more must be read behind them, they move to memory of the
// reader's own.
#pragma once
#include <hocket/core/frame_memory.hpp>
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/io/buffer.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Where a delimiter that is not in the bytes may begin, at the earliest, if more bytes come: its first part may be at
// their end.
std::size_t earliest_end(std::string_view bytes, std::string_view delimiter) noexcept;

class read_buffer {
 public:
  std::string_view unread() const noexcept { return {bytes() + begin_, end_ - begin_}; }
  // The view is valid until a function of this class is called that changes it.
  std::string_view take(std::size_t size) noexcept {
    const std::string_view taken = unread().substr(0, size);
    begin_ += taken.size();
    return taken;
  }

  // Nothing is unread: gives all memory up.
  void clear() noexcept {
    lent_.release();
    own_ = {};
    begin_ = end_ = 0;
  }
  // After clear(). False: it is empty.
  bool hold(borrowed_bytes&& lent) noexcept {
    lent_ = std::move(lent);
    end_ = lent_.size();
    return end_ != 0;
  }
  // Memory behind what is unread, so that `wanted` bytes fit, and some in any case; at most `most` in all.
  mutable_buffer room(std::size_t wanted, std::size_t most);
  // The first bytes of that room were read. False: none was.
  bool grow(std::size_t read) noexcept {
    end_ += read;
    return read != 0;
  }

 private:
  const char* bytes() const noexcept { return lent_.empty() ? own_.data() : lent_.text().data(); }
  void move_to(std::size_t room);

  borrowed_bytes lent_;
  std::vector<char, frame_allocator<char>> own_;  // if nothing is lent
  std::size_t begin_ = 0, end_ = 0;               // what is unread
};

}}}  // namespace hocket::detail
