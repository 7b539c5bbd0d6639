// The parser is a machine with a phase for each element of a head. A phase scans its element from the first byte that
// is not read, and either finds the end of the element, needs more bytes, or refuses the head. All limits are compared
// with positions in the head, never with the size of the input: so the verdict does not depend on how the bytes arrive.
#include "byte_scan.hpp"
#include "fast_reader.hpp"

#include <hocket/base/seam/platform/algobase.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/detail/tokens.hpp>

#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

constexpr std::string_view version_pattern = "HTTP/0.0\r\n";  // 0: any digit

}  // namespace

inline void request_head::append_field(const char* name, std::size_t name_size, const char* value_end,
                                       known_field known) noexcept {
  const char* const name_end = name + name_size;
  const char* first = name_end + 1;
  // All characters of a value but SP and HTAB are above SP.
  const auto is_space = [](char c) noexcept { return static_cast<unsigned char>(c) <= ' '; };
  while (first != value_end && is_space(*first)) ++first;
  while (value_end != first && is_space(value_end[-1])) --value_end;
  fields_.append({.name_offset = static_cast<std::uint32_t>(name - begin_),
                  .name_size = static_cast<std::uint16_t>(name_size),
                  .value_distance = static_cast<std::uint16_t>(first - name_end),
                  .value_size = static_cast<std::uint16_t>(value_end - first),
                  .known = known,
                  .next = 0});
}

// The bytes that one call has, and the machine's steps.
struct request_head::reader {
  enum class step : std::uint8_t { next, wait, refused };

  request_head& head;
  const char* begin;
  const char* end;   // of the input, or of the longest head that is allowed
  const char* next;  // the first byte that is not read
  const head_limits& limits;

  step refuse(status code, const char* section) noexcept {
    head.refuse(code, section);
    return step::refused;
  }
  step refuse(const char* section) noexcept { return refuse(status::bad_request, section); }
  step enter(phase p) noexcept {
    head.phase_ = p;
    return step::next;
  }
  std::uint32_t position() const noexcept { return static_cast<std::uint32_t>(next - begin); }
  const char* line_begin() const noexcept { return begin + head.line_begin_; }
  // A line that is not too long has its CR within so many bytes, and a scan ends one byte later.
  std::ptrdiff_t longest_line() const noexcept { return std::min<std::uint32_t>(limits.line, 0xffff); }
  const char* scan_end(std::ptrdiff_t longest) const noexcept {
    return end - line_begin() > longest + 1 ? line_begin() + longest + 1 : end;
  }
  const char* scan_end() const noexcept { return scan_end(longest_line()); }
  bool exceeds_line() const noexcept { return next - line_begin() > longest_line(); }

  step read_begin() noexcept;
  step read_empty_line() noexcept;
  step read_method() noexcept;
  step read_target() noexcept;
  step read_version() noexcept;
  step end_request_line(char major, char minor) noexcept;
  step read_name() noexcept;
  step refuse_name() noexcept;
  step read_value() noexcept;
  step read_line_end() noexcept;
  step read_end() noexcept;
  step read_phase() noexcept;
};

auto request_head::reader::read_begin() noexcept -> step {
  if (next == end) return step::wait;
  head.line_begin_ = position();
  if (*next != '\r') return enter(phase::method);
  ++next;
  return enter(phase::empty_line);
}

auto request_head::reader::read_empty_line() noexcept -> step {
  if (next == end) return step::wait;
  if (*next != '\n') return refuse("RFC 9112, 2.2");
  ++next;
  head.line_begin_ = position();
  return enter(phase::method);
}

auto request_head::reader::read_method() noexcept -> step {
  next = skip(token_char, next, scan_end(longest_method));
  if (next - line_begin() > longest_method) return refuse(status::not_implemented, "RFC 9112, 3");
  if (next == end) return step::wait;
  if (*next != ' ' || next == line_begin())
    return refuse(*next == '\r' || *next == '\n' ? "RFC 9112, 2.2" : "RFC 9112, 3");
  head.method_offset_ = head.line_begin_;
  head.method_size_ = static_cast<std::uint16_t>(next - line_begin());
  head.method_ = find_method({line_begin(), head.method_size_});
  ++next;
  return enter(phase::target);
}

auto request_head::reader::read_target() noexcept -> step {
  next = skip(target_char, next, scan_end());
  if (exceeds_line()) return refuse(status::uri_too_long, "RFC 9112, 3");
  if (next == end) return step::wait;
  if (*next != ' ') return refuse("RFC 9112, 3.2");
  head.target_size_ = static_cast<std::uint16_t>(next - line_begin() - head.method_size_ - 1);
  if (head.target_size_ == 0) return refuse("RFC 9112, 3");
  ++next;
  return enter(phase::version);
}

auto request_head::reader::read_version() noexcept -> step {
  if (next - line_begin() > longest_line() - 8) return refuse(status::uri_too_long, "RFC 9112, 3");
  const auto size = std::min<std::size_t>(static_cast<std::size_t>(end - next), version_pattern.size());
  for (std::size_t i = 0; i != size; ++i) {
    const bool is_good = version_pattern[i] == '0' ? is_in(digit_char, next[i]) : next[i] == version_pattern[i];
    if (!is_good) return refuse(i < 8 ? "RFC 9112, 2.3" : "RFC 9112, 2.2");
  }
  if (size != version_pattern.size()) return step::wait;
  return end_request_line(next[5], next[7]);
}

auto request_head::reader::end_request_line(char major, char minor) noexcept -> step {
  if (major != '1') return refuse(status::http_version_not_supported, "RFC 9110, 2.5");
  head.minor_version_ = static_cast<std::uint8_t>(minor - '0');
  if (const detail::refusal error = parse_target(head.method_, head.target(), head.parts_); error.is_set())
    return refuse(error.code, error.section);
  next += version_pattern.size();
  head.line_begin_ = position();
  return enter(phase::name);
}

auto request_head::reader::read_name() noexcept -> step {
  if (next == end) return step::wait;
  if (next == line_begin()) {
    if (*next == '\r') {
      ++next;
      return enter(phase::end);
    }
    if (head.fields_.is_full() || head.fields_.size() >= limits.fields)
      return refuse(status::request_header_fields_too_large, "RFC 6585, 5");
  }
  next = skip(token_char, next, scan_end());
  if (exceeds_line()) return refuse(status::request_header_fields_too_large, "RFC 6585, 5");
  if (next == end) return step::wait;
  if (*next != ':' || next == line_begin()) return refuse_name();
  head.name_size_ = static_cast<std::uint16_t>(next - line_begin());
  ++next;
  return enter(phase::value);
}

auto request_head::reader::refuse_name() noexcept -> step {
  if (is_blank(*next) && next == line_begin())
    return refuse(head.fields_.size() == 0 ? "RFC 9112, 2.2" : "RFC 9112, 5.2");
  return refuse(*next == '\r' || *next == '\n' ? "RFC 9112, 2.2" : "RFC 9112, 5.1");
}

auto request_head::reader::read_value() noexcept -> step {
  next = skip_value(next, scan_end());
  if (exceeds_line()) return refuse(status::request_header_fields_too_large, "RFC 6585, 5");
  if (next == end) return step::wait;
  if (*next != '\r') return refuse(*next == '\n' ? "RFC 9112, 2.2" : "RFC 9110, 5.5");
  head.append_field(line_begin(), head.name_size_, next, find_known_field({line_begin(), head.name_size_}));
  ++next;
  return enter(phase::line_end);
}

auto request_head::reader::read_line_end() noexcept -> step {
  if (next == end) return step::wait;
  if (*next != '\n') return refuse("RFC 9112, 2.2");
  ++next;
  head.line_begin_ = position();
  return enter(phase::name);
}

auto request_head::reader::read_end() noexcept -> step {
  if (next == end) return step::wait;
  if (*next != '\n') return refuse("RFC 9112, 2.2");
  ++next;
  return step::next;
}

auto request_head::reader::read_phase() noexcept -> step {
  switch (head.phase_) {
    case phase::begin: return read_begin();
    case phase::empty_line: return read_empty_line();
    case phase::method: return read_method();
    case phase::target: return read_target();
    case phase::version: return read_version();
    case phase::name: return read_name();
    case phase::value: return read_value();
    case phase::line_end: return read_line_end();
    case phase::end: return read_end();
  }
  return step::refused;
}

inline bool request_head::parse_at_once(std::string_view bytes, const head_limits& limits) noexcept {
  const std::size_t longest = std::min<std::uint32_t>(std::min(limits.line, limits.head), 0xffff);
  const std::size_t size = std::min(bytes.size(), longest);
  if (size < 8) return false;
  const char* const end = begin_ + size;
  const void* const last = end[-1] == '\n' ? end - 1 : ::memrchr(begin_, '\n', size);
  if (!last) return false;
  fast_reader input{*this, static_cast<const char*>(last), end};
  const char* const head_end = input.read(begin_, limits);
  if (!head_end) {
    fields_.clear();
    return false;
  }
  position_ = static_cast<std::uint32_t>(head_end - begin_);
  phase_ = phase::end;
  return true;
}

inline auto request_head::finish() noexcept -> outcome {
  error_ = read_framing(*this, framing_);
  return error_.is_set() ? outcome::refused : outcome::complete;
}

auto request_head::parse(std::string_view bytes, const head_limits& limits) noexcept -> outcome {
  if (begin_ != bytes.data()) rebase(bytes.data());
  if (phase_ == phase::begin && parse_at_once(bytes, limits)) return finish();
  return run(bytes, limits);
}

auto request_head::run(std::string_view bytes, const head_limits& limits) noexcept -> outcome {
  const std::size_t size = std::min<std::size_t>(bytes.size(), limits.head);
  reader input{*this, bytes.data(), bytes.data() + size, bytes.data() + position_, limits};
  for (;;) {
    const bool is_last = phase_ == phase::end;
    const reader::step result = input.read_phase();
    if (result == reader::step::refused) return outcome::refused;
    position_ = input.position();
    if (result == reader::step::next && !is_last) continue;
    if (result == reader::step::next) return finish();
    if (size < limits.head) return outcome::incomplete;
    if (phase_ >= phase::name) return refuse(status::request_header_fields_too_large, "RFC 6585, 5");
    return refuse(status::uri_too_long, "RFC 9112, 3");
  }
}

auto request_head::refuse(status code, const char* section) noexcept -> outcome {
  error_ = {code, section};
  return outcome::refused;
}

// parse() sets everything else.
void request_head::clear() noexcept {
  position_ = line_begin_ = 0;
  phase_ = phase::begin;
  fields_.clear();
}

void request_head::rebase(const char* begin) noexcept {
  begin_ = begin;
  fields_.set_begin(begin);
  if (phase_ >= phase::name) parse_target(method_, target(), parts_);
}

std::string_view request_head::host() const noexcept {
  if (!parts_.authority.empty()) return parts_.authority;
  return find(known_field::host).value_or(std::string_view{});
}

std::optional<std::string_view> request_head::find(known_field field) const noexcept {
  const std::size_t index = fields_.find(field);
  if (index == field_table::npos) return std::nullopt;
  return fields_.value(index);
}

std::optional<std::string_view> request_head::find(std::string_view name) const noexcept {
  const std::size_t index = fields_.find(name);
  if (index == field_table::npos) return std::nullopt;
  return fields_.value(index);
}

}}}}  // namespace hocket::http::detail
