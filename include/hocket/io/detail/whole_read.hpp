// The state of a read to the end of a stream, into memory that grows: the call_kind `read_all`.
//
// The state is on the heap, so the operation may be copied before it waits. The operation owns it, from its first try
// to take() or resumed(). The text belongs to the state, or to the caller.
#pragma once
#include <hocket/io/seam/backend.hpp>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct whole_read {
  explicit whole_read(std::size_t max_size) noexcept : text(own), limit(max_size) {}
  whole_read(std::string& target, std::size_t max_size) noexcept : text(target), size(target.size()), limit(max_size) {}
  whole_read(const whole_read&) = delete;
  whole_read& operator=(const whole_read&) = delete;

  // Enlarges the text, so that there is room for at least one byte. Returns 0; ENOMEM; or EMSGSIZE, if the size exceeds
  // the limit.
  int make_room() noexcept;
  std::size_t room() const noexcept { return text.size() - size; }

  std::string own;
  std::string& text;     // its first `size` characters: the caller's text, and then the bytes of the stream
  std::size_t size = 0;  // may exceed the limit by one
  const std::size_t limit;
};

}}}  // namespace hocket::detail
