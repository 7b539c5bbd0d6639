// The reader of a request's head for the common case: the whole head is there, and it is shorter than a line may be. So
// no limit of bytes can be exceeded.
//
// It accepts nothing that request_head::reader refuses, and refuses nothing: if a step returns a null pointer, that
// reader decides. Each step gets the first byte that is not read, and returns the next one.
//
// Bounds. `last` is the position of the last LF, which is in no class of characters, and each step begins at `last` or
// before it. So no scan needs another bound. The bytes up to `end` are read in words, and decide nothing.
#pragma once
#include <hocket/base/seam/platform/algobase.hpp>
#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "byte_scan.hpp"
#include "known_names.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

inline constexpr std::ptrdiff_t longest_method = 32;

struct request_head::fast_reader {
  request_head& head;
  const char* last;
  const char* end;  // of the input, at least eight bytes behind its begin

  // Returns the end of the head.
  [[HOCKET_ALWAYS_INLINE]] const char* read(const char* next, const head_limits& limits) noexcept {
    next = read_request_line(next);
    const std::size_t most_fields = std::min<std::size_t>(limits.fields, field_table::max_fields);
    while (next && !is_line_end(next)) {
      if (next > last || head.fields_.size() >= most_fields) return nullptr;
      next = read_field(next);
    }
    return next ? next + 2 : nullptr;
  }

 private:
  // Whether two bytes are a line end that is not behind `last`.
  bool is_line_end(const char* next) const noexcept { return next < last && std::memcmp(next, "\r\n", 2) == 0; }

  [[HOCKET_ALWAYS_INLINE]] const char* read_request_line(const char* next) noexcept {
    next = read_method(next);
    if (next) next = read_target(next);
    if (!next || last - next < 10 || std::memcmp(next, " HTTP/1.1\r\n", 11) != 0) return nullptr;
    head.minor_version_ = 1;
    return next + 11;
  }

  [[HOCKET_ALWAYS_INLINE]] const char* read_method(const char* next) noexcept {
    const char* const begin = next;
    head.method_offset_ = 0;
    if (last - next > 4 && std::memcmp(next, "GET ", 4) == 0) {
      head.method_size_ = 3;
      head.method_ = http::method::get;
      return next + 4;
    }
    next = skip_to_end(token_char, next);
    if (*next != ' ' || next == begin || next - begin > longest_method) return nullptr;
    head.method_size_ = static_cast<std::uint16_t>(next - begin);
    head.method_ = find_method({begin, head.method_size_});
    return next + 1;
  }

  // A path without `%`, `\` and segments that begin with a dot is split here.
  [[HOCKET_ALWAYS_INLINE]] const char* read_target(const char* next) noexcept {
    const char* const begin = next;
    target_parts& parts = head.parts_;
    if (*next == '/' && head.method_ != http::method::connect) {
      next = skip_to_end(plain_path_char, next);
      while (*next == '.' && next[-1] != '/') next = skip_to_end(plain_path_char, next + 1);
      parts = {};
      parts.path = {begin, static_cast<std::size_t>(next - begin)};
      if (*next == '?') {
        const char* const query = ++next;
        next = skip_to_end(target_char, next);
        parts.query = {query, static_cast<std::size_t>(next - query)};
        parts.has_query = true;
      }
    }
    const bool is_done = *next == ' ' && next != begin;
    if (!is_done) next = skip_to_end(target_char, next);
    if (*next != ' ') return nullptr;
    head.target_size_ = static_cast<std::uint16_t>(next - begin);
    return is_done || !parse_target(head.method_, head.target(), parts).is_set() ? next : nullptr;
  }

  [[HOCKET_ALWAYS_INLINE]] const char* read_field(const char* next) noexcept {
    if (last - next > 5 && next[4] == ':' && equal_words<std::uint32_t>(next, "host"))
      return read_value(next, next + 4, known_field::host);
    const char* const colon = find_colon(next, end);
    const known_field known = match_known_name({next, static_cast<std::size_t>(colon - next)});
    // A known name is a token. If the line has no colon, its CR is in front of `colon`.
    if (known == known_field::unknown && !is_name(next, colon)) return nullptr;
    return read_value(next, colon, known);
  }

  bool is_name(const char* begin, const char* colon) const noexcept {
    return colon != end && colon != begin && skip(token_char, begin, colon) == colon;
  }

  [[HOCKET_ALWAYS_INLINE]] const char* read_value(const char* name, const char* colon, known_field known) noexcept {
    const char* const value_end = skip_value_to_end(colon + 1, end);
    if (!is_line_end(value_end)) return nullptr;
    head.append_field(name, static_cast<std::size_t>(colon - name), value_end, known);
    return value_end + 2;
  }
};

}}}}  // namespace hocket::http::detail
