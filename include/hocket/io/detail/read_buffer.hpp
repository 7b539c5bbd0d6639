// The unread bytes of a buffered reader: borrowed bytes, or bytes in memory of the reader's own.
//
// The reader returns views of borrowed bytes without a copy. When it must read further bytes behind them, it copies
// them to its own memory.
#pragma once
#include <hocket/core/frame_memory.hpp>
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/io/buffer.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Returns the earliest position of a delimiter that is not in the bytes, if more bytes follow: a first part of the
// delimiter may be at the end of the bytes.
std::size_t earliest_end(std::string_view bytes, std::string_view delimiter) noexcept;

class read_buffer {
 public:
  std::string_view unread() const noexcept { return {bytes() + begin_, end_ - begin_}; }
  // The view is valid until the next call of a non-const member.
  std::string_view take(std::size_t size) noexcept {
    const std::string_view taken = unread().substr(0, size);
    begin_ += taken.size();
    return taken;
  }

  // Releases all memory. No byte is unread.
  void clear() noexcept {
    borrowed_.release();
    own_ = {};
    begin_ = end_ = 0;
  }
  // After clear(). False: the bytes are empty.
  bool hold(borrowed_bytes&& bytes) noexcept {
    borrowed_ = std::move(bytes);
    end_ = borrowed_.size();
    return end_ != 0;
  }
  // Returns memory behind the unread bytes: at least one byte, so that `min_size` bytes fit with the unread ones, and
  // at most `max_size`.
  mutable_buffer room(std::size_t min_size, std::size_t max_size);
  // Appends the first bytes of the room. False: there are none.
  bool grow(std::size_t size) noexcept {
    end_ += size;
    return size != 0;
  }

 private:
  const char* bytes() const noexcept { return borrowed_.empty() ? own_.data() : borrowed_.text().data(); }
  void reallocate(std::size_t size);

  borrowed_bytes borrowed_;
  std::vector<char, frame_allocator<char>> own_;  // if no bytes are borrowed
  std::size_t begin_ = 0, end_ = 0;               // of the unread bytes
};

}}}  // namespace hocket::detail
