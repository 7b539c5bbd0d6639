// The searches of a buffered reader, with their results: a line, the bytes before a delimiter, counted bytes, or the
// first byte of a message. A search scans the unread bytes after each read. It neither reads nor waits.
//
// A search is a part of an operation: trivially copyable, and without padding.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/base/result.hpp>
#include <hocket/base/seam/platform/algobase.hpp>
#include <hocket/io/detail/read_buffer.hpp>
#include <new>
#include <optional>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class message_search {
 public:
  explicit message_search(std::size_t max_size) noexcept : max_size_(max_size) {}

  // End the search, if the source has failed, or there is no memory.
  void fail(std::error_code error) noexcept {
    error_ = static_cast<std::size_t>(error.value());
    category_ = &error.category();
  }
  void fail_for_memory() noexcept { lacks_memory_ = 1; }

 protected:
  bool has_failed() const noexcept { return category_ != nullptr || lacks_memory_ != 0; }
  failure cause() const {
    if (lacks_memory_ != 0) throw std::bad_alloc();
    return failure(std::error_code(static_cast<int>(error_), *category_));
  }
  // The limit plus `extra` bytes behind the message, without an overflow.
  std::size_t max_size_with(std::size_t extra) const noexcept { return max_size_ + std::min(extra, ~max_size_); }

  std::size_t max_size_;

 private:
  std::size_t error_ = 0;
  const std::error_category* category_ = nullptr;
  std::size_t lacks_memory_ = 0;
};

// Finds the bytes before a delimiter, which must not move during the search; for a line also without a '\r'.
class delimiter_search : public message_search {
 public:
  using value_type = std::optional<std::string_view>;
  static constexpr bool is_idle = false;

  delimiter_search(std::size_t max_size, std::string_view delimiter, bool is_line) noexcept
      : message_search(max_size), delimiter_(delimiter.data()), size_(delimiter.size()), is_line_(is_line) {}

  // True: the message is complete, or the search has failed.
  bool scan(read_buffer& buffer) noexcept {
    const std::string_view unread = buffer.unread(), delimiter(delimiter_, size_);
    position_ = unread.find(delimiter, searched_);
    const bool is_found = position_ != std::string_view::npos;
    message_size_ = size_before(unread, is_found ? position_ : earliest_end(unread, delimiter));
    if (message_size_ > max_size_) fail(std::make_error_code(std::errc::message_size));
    searched_ = unread.size() - std::min(unread.size(), size_ - 1);
    return is_found || has_failed();
  }
  void end_source(read_buffer& buffer) noexcept {
    const std::size_t rest = buffer.unread().size();
    if (rest == 0) has_ended_ = 1;
    else if (is_line_ == 0) fail(make_error_code(errc::end_of_stream));
    else if (rest > max_size_) fail(std::make_error_code(std::errc::message_size));
    else {
      position_ = message_size_ = rest;  // the last line need not have an end
      size_ = 0;
    }
  }
  std::size_t min_size() const noexcept { return 0; }
  std::size_t max_size() const noexcept { return max_size_with(size_ + 1); }
  result<value_type> take(read_buffer& buffer) {
    if (has_failed()) return cause();
    if (has_ended_ != 0) return value_type();
    return value_type(buffer.take(position_ + size_).substr(0, message_size_));
  }

 private:
  std::size_t size_before(std::string_view unread, std::size_t end) const noexcept {
    return is_line_ != 0 && end != 0 && unread[end - 1] == '\r' ? end - 1 : end;
  }

  const char* delimiter_;
  std::size_t size_;
  std::size_t is_line_;
  std::size_t searched_ = 0;  // no delimiter begins before this position
  std::size_t position_ = 0, message_size_ = 0;
  std::size_t has_ended_ = 0;
};

// Finds a count of bytes.
class counted_search : public message_search {
 public:
  using value_type = std::string_view;
  static constexpr bool is_idle = false;

  counted_search(std::size_t max_size, std::size_t bytes) noexcept : message_search(max_size), bytes_(bytes) {}

  bool scan(read_buffer& buffer) noexcept {
    if (bytes_ > max_size_) fail(std::make_error_code(std::errc::message_size));
    return buffer.unread().size() >= bytes_ || has_failed();
  }
  void end_source(read_buffer&) noexcept { fail(make_error_code(errc::end_of_stream)); }
  std::size_t min_size() const noexcept { return bytes_; }
  std::size_t max_size() const noexcept { return max_size_; }
  result<value_type> take(read_buffer& buffer) {
    if (has_failed()) return cause();
    return buffer.take(bytes_);
  }

 private:
  std::size_t bytes_;
};

// Finds any byte, between two messages.
class first_byte_search : public message_search {
 public:
  using value_type = bool;
  static constexpr bool is_idle = true;

  using message_search::message_search;

  bool scan(read_buffer& buffer) noexcept { return !buffer.unread().empty() || has_failed(); }
  static void end_source(read_buffer&) noexcept {}
  static constexpr std::size_t min_size() noexcept { return 0; }
  std::size_t max_size() const noexcept { return max_size_with(1); }
  result<value_type> take(read_buffer& buffer) {
    if (has_failed()) return cause();
    return !buffer.unread().empty();
  }
};

}}}  // namespace hocket::detail
