#include <hocket/http/detail/field_buffer.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

constexpr std::string_view name_separator = ": ", field_line_end = "\r\n";

char* copy_part(char* to, std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

struct line {
  std::string_view name, value;
  std::size_t size;
};
// The first line of a text that consists of valid lines and is not empty.
line first_line(std::string_view lines) noexcept {
  const std::size_t end = lines.find(field_line_end);
  const std::size_t name_end = lines.find(':');
  return {lines.substr(0, name_end),
          lines.substr(name_end + name_separator.size(), end - name_end - name_separator.size()),
          end + field_line_end.size()};
}

}  // namespace

field_buffer& field_buffer::operator=(field_buffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  take(other);
  return *this;
}

void field_buffer::take(field_buffer& other) noexcept {
  heap_ = other.heap_;
  size_ = other.size_;
  capacity_ = other.capacity_;
  if (!heap_ && size_ != 0) std::memcpy(inline_, other.inline_, size_);
  other.heap_ = nullptr;
  other.size_ = 0;
  other.capacity_ = inline_size;
}

void field_buffer::release() noexcept {
  delete[] heap_;
  heap_ = nullptr;
}

void field_buffer::append_lines(std::string_view lines) { append_parts({lines}); }

void field_buffer::append_line(std::string_view name, std::string_view value) {
  append_parts({name, name_separator, value, field_line_end});
}

// The parts may be views into this buffer: a block that is too small is freed after the copy.
void field_buffer::append_parts(std::initializer_list<std::string_view> parts) {
  std::size_t bytes = size_;
  for (const std::string_view part : parts) bytes += part.size();
  if (bytes > max_size) throw std::length_error("hocket: the fields of a response are longer than 1 MB");
  char* larger = nullptr;
  if (bytes > capacity_) {
    const std::size_t capacity = std::max(bytes, 2 * std::size_t{capacity_});
    larger = new char[capacity];
    std::memcpy(larger, data(), size_);
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  char* to = (larger ? larger : data()) + size_;
  for (const std::string_view part : parts) to = copy_part(to, part);
  if (larger) {
    release();
    heap_ = larger;
  }
  size_ = static_cast<std::uint32_t>(bytes);
}

// The name and the value may be views into lines that are removed, so the name is read from the new line.
void field_buffer::replace_line(std::string_view name, std::string_view value) {
  std::size_t added = size_;
  append_line(name, value);
  for (std::size_t at = 0; at < added;) {
    const line current = first_line(text().substr(at));
    if (equals_ignore_case(current.name, text().substr(added, name.size()))) {
      erase(at, current.size);
      added -= current.size;
    } else {
      at += current.size;
    }
  }
}

std::optional<std::string_view> field_buffer::find(std::string_view name) const noexcept {
  for (std::string_view rest = text(); !rest.empty();) {
    const line current = first_line(rest);
    if (equals_ignore_case(current.name, name)) return current.value;
    rest.remove_prefix(current.size);
  }
  return std::nullopt;
}

bool field_buffer::remove(std::string_view name) noexcept {
  const std::size_t old = size_;
  for (std::size_t at = 0; at < size_;) {
    const line current = first_line(text().substr(at));
    if (equals_ignore_case(current.name, name)) erase(at, current.size);
    else at += current.size;
  }
  return size_ != old;
}

void field_buffer::erase(std::size_t at, std::size_t bytes) noexcept {
  std::memmove(data() + at, data() + at + bytes, size_ - at - bytes);
  size_ -= static_cast<std::uint32_t>(bytes);
}

}}}}  // namespace hocket::http::detail
