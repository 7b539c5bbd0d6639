// Text in columns to a file descriptor, through a small buffer: no allocation, no lock, no stdio, no locale, so that a
// signal handler may write with it.
//
// Whoever it is given for a string, a line stays a line: control characters become '?', and every string is cut at a
// length. Errors of the descriptor are swallowed: what comes after one is dropped.
#pragma once
#include <hocket/base/seam/time_point.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class text_writer {
 public:
  static constexpr std::size_t longest = 48;  // of one string, in bytes

  explicit text_writer(int fd) noexcept;
  text_writer(const text_writer&) = delete;
  text_writer& operator=(const text_writer&) = delete;
  ~text_writer();  // writes what is left; errno is as it was at the construction

  // Too long: "beginning..." and "...end".
  text_writer& text(const char* words) noexcept;
  text_writer& path(const char* name) noexcept;

  // Words of the library's own: never cut.
  text_writer& literal(const char* words) noexcept;

  text_writer& number(std::uint64_t value) noexcept;
  text_writer& hexadecimal(std::uintptr_t value) noexcept;  // with 0x
  text_writer& seconds(duration time) noexcept;             // to the microsecond, rounded down; not negative

  // Spaces up to the column, two at least behind what stands in the line.
  text_writer& to_column(std::size_t column) noexcept;
  text_writer& end_line() noexcept;

 private:
  void put(char byte) noexcept;
  void put_printable(const char* bytes, std::size_t size) noexcept;
  void digits(std::uint64_t value, unsigned base, std::size_t least) noexcept;
  void flush() noexcept;

  const int fd_;
  const int errno_;
  bool failed_ = false;
  std::size_t column_ = 0;
  std::size_t used_ = 0;
  char buffer_[512];
};

}}}  // namespace hocket::detail
