#include <hocket/base/seam/text_writer.hpp>

#include "base/platform/descriptor.hpp"

#include <cerrno>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr const char dots[] = "...";
constexpr std::size_t dots_size = sizeof dots - 1;

}  // namespace

text_writer::text_writer(int fd) noexcept : fd_(fd), errno_(errno) {}

text_writer::~text_writer() {
  flush();
  errno = errno_;
}

text_writer& text_writer::text(const char* words) noexcept {
  const std::size_t size = ::strnlen(words, longest + 1);
  if (size <= longest) return put_printable(words, size), *this;
  put_printable(words, longest - dots_size);
  put_printable(dots, dots_size);
  return *this;
}

text_writer& text_writer::path(const char* name) noexcept {
  const std::size_t size = std::strlen(name);
  if (size <= longest) return put_printable(name, size), *this;
  put_printable(dots, dots_size);
  put_printable(name + size - (longest - dots_size), longest - dots_size);
  return *this;
}

text_writer& text_writer::literal(const char* words) noexcept {
  put_printable(words, std::strlen(words));
  return *this;
}

text_writer& text_writer::number(std::uint64_t value) noexcept {
  digits(value, 10, 1);
  return *this;
}

text_writer& text_writer::hexadecimal(std::uintptr_t value) noexcept {
  put('0');
  put('x');
  digits(value, 16, 1);
  return *this;
}

text_writer& text_writer::seconds(duration time) noexcept {
  const auto microseconds = static_cast<std::uint64_t>(time.count()) / 1000;
  digits(microseconds / 1'000'000, 10, 1);
  put('.');
  digits(microseconds % 1'000'000, 10, 6);
  put('s');
  return *this;
}

text_writer& text_writer::to_column(std::size_t column) noexcept {
  if (column_ != 0) put_printable("  ", 2);
  while (column_ < column) put(' ');
  return *this;
}

text_writer& text_writer::end_line() noexcept {
  put('\n');
  column_ = 0;
  return *this;
}

void text_writer::put(char byte) noexcept {
  if (used_ == sizeof buffer_) flush();
  buffer_[used_++] = byte;
  ++column_;
}

void text_writer::put_printable(const char* bytes, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    put(byte < 0x20 || byte == 0x7f ? '?' : bytes[i]);
  }
}

void text_writer::digits(std::uint64_t value, unsigned base, std::size_t least) noexcept {
  char reversed[20];
  std::size_t size = 0;
  for (; value != 0 || size < least; value /= base) reversed[size++] = "0123456789abcdef"[value % base];
  while (size != 0) put(reversed[--size]);
}

void text_writer::flush() noexcept {
  if (!failed_) failed_ = !write_all(fd_, buffer_, used_);
  used_ = 0;
}

}}}  // namespace hocket::detail
