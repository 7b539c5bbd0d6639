// Reading to the end of a stream, into memory that grows: the call_kind `read_all`.
//
// What describes it lies on the heap, so the operation may be copied before it waits. It belongs to the operation, from
// its first try to take() or resumed(). The text is its own, or the caller's.
#pragma once
#include <hocket/io/seam/backend.hpp>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// What was read so far.
struct whole_read {
  explicit whole_read(std::size_t most) noexcept : text(own), limit(most) {}
  whole_read(std::string& into, std::size_t most) noexcept : text(into), size(into.size()), limit(most) {}
  whole_read(const whole_read&) = delete;
  whole_read& operator=(const whole_read&) = delete;

  // Makes room to read into, at least one byte. An error number: ENOMEM, or EMSGSIZE: the text is too long already.
  int make_room() noexcept;
  std::size_t room() const noexcept { return text.size() - size; }

  std::string own;
  std::string& text;     // its first `size` characters: the caller's, and then the bytes of the stream
  std::size_t size = 0;  // may pass the limit by one
  const std::size_t limit;
};

}}}  // namespace hocket::detail
