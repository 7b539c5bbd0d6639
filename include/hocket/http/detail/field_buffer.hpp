// The field lines of a response, as they are sent: "Name: value\r\n" one after another. The first 240 bytes need no
// allocation.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class field_buffer {
 public:
  static constexpr std::size_t inline_size = 240;
  static constexpr std::size_t max_size = std::size_t{1} << 20;

  field_buffer() noexcept {}
  field_buffer(field_buffer&& other) noexcept { take(other); }
  field_buffer& operator=(field_buffer&& other) noexcept;
  ~field_buffer() { release(); }

  std::string_view text() const noexcept { return {data(), size_}; }
  // Appends bytes that are known to be valid lines. Throws std::bad_alloc, and std::length_error above max_size.
  void append_lines(std::string_view lines);
  // Appends one line. Throws like append_lines(). The name and the value are valid.
  void append_line(std::string_view name, std::string_view value);
  // Appends the line and removes all earlier lines with the name. Throws like append_lines(); then nothing has changed.
  void replace_line(std::string_view name, std::string_view value);
  // The value of the first line with the name. The case of the name does not count, here and in the other functions.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  // Removes all lines with the name. Returns whether there was one. The name must be no view into the lines.
  bool remove(std::string_view name) noexcept;

 private:
  const char* data() const noexcept { return heap_ ? heap_ : inline_; }
  char* data() noexcept { return heap_ ? heap_ : inline_; }
  void append_parts(std::initializer_list<std::string_view> parts);
  void erase(std::size_t at, std::size_t bytes) noexcept;
  void take(field_buffer& other) noexcept;
  void release() noexcept;

  char* heap_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = inline_size;
  char inline_[inline_size];
};

}}}}  // namespace hocket::http::detail
