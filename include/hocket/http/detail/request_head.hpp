// The strict parser of a request's head (RFC 9112, sections 2 to 5).
//
//   request_head head;
//   switch (head.parse(bytes, limits)) {...}
//
// Resumption. Each call gets a longer prefix of the same bytes, which may have moved. The parser keeps its state and
// the position of the first byte that it has not read. So a head that arrives byte by byte costs linear time, and the
// verdict does not depend on how the bytes arrive.
//
// The head owns no bytes and allocates nothing. Its views are valid until the bytes move. After a move call rebase().
//
// The parser refuses all forms that another server could read in another way: a bare CR or LF, folded lines, white
// space before the first field and before a colon, and control characters. One empty line before the request line is
// skipped.
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/http/detail/field_table.hpp>
#include <hocket/http/detail/framing.hpp>
#include <hocket/http/detail/refusal.hpp>
#include <hocket/http/detail/target.hpp>
#include <hocket/http/method.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// In bytes. A line counts without its CR LF, the head with all of its line ends, also that of a skipped empty line.
struct head_limits {
  std::uint32_t line = 8 * 1024;   // at most 65,535
  std::uint32_t head = 16 * 1024;  // at most 2^31 - 1
  std::uint16_t fields = 100;      // at most field_table::max_fields
};
static_assert(hocket::detail::owns_nothing<head_limits>);

class request_head {
 public:
  enum class outcome : std::uint8_t { incomplete, complete, refused };

  request_head() noexcept {}  // NOLINT(modernize-use-equals-default): the table stays uninitialized
  request_head(const request_head&) = delete;
  request_head& operator=(const request_head&) = delete;

  // `bytes` begins where the request begins. After `complete` or `refused` call clear() before the next parse().
  outcome parse(std::string_view bytes, const head_limits& limits = {}) noexcept;
  // Prepares the head for the next request.
  void clear() noexcept;
  // The bytes of the head have moved, and begin at `begin` now.
  void rebase(const char* begin) noexcept;

  // Whether a byte of the request has arrived. An empty line before the request does not count.
  bool has_begun() const noexcept { return phase_ > phase::empty_line; }
  // The reason why the head was refused.
  const detail::refusal& error() const noexcept { return error_; }

  // All of the following are for a complete head.
  std::size_t size() const noexcept { return position_; }
  http::method method() const noexcept { return method_; }
  std::string_view method_text() const noexcept { return {begin_ + method_offset_, method_size_}; }
  std::string_view target() const noexcept { return {begin_ + method_offset_ + method_size_ + 1, target_size_}; }
  // 0 for HTTP/1.0, 1 for HTTP/1.1.
  int minor_version() const noexcept { return minor_version_; }
  const target_parts& parts() const noexcept { return parts_; }
  std::string_view path() const noexcept { return parts_.path; }    // raw
  std::string_view query() const noexcept { return parts_.query; }  // raw
  // The authority of an absolute target, else the field Host; "" on HTTP/1.0 without this field.
  std::string_view host() const noexcept;
  const framing& body() const noexcept { return framing_; }

  const field_table& fields() const noexcept { return fields_; }
  // The value of the first field with the name.
  std::optional<std::string_view> find(known_field field) const noexcept;
  std::optional<std::string_view> find(std::string_view name) const noexcept;

 private:
  enum class phase : std::uint8_t { begin, empty_line, method, target, version, name, value, line_end, end };
  struct reader;
  struct fast_reader;

  bool parse_at_once(std::string_view bytes, const head_limits& limits) noexcept;
  outcome run(std::string_view bytes, const head_limits& limits) noexcept;
  void append_field(const char* name, std::size_t name_size, const char* value_end, known_field known) noexcept;
  outcome refuse(status code, const char* section) noexcept;
  outcome finish() noexcept;

  const char* begin_ = nullptr;
  std::uint32_t position_ = 0;    // of the first byte that is not read
  std::uint32_t line_begin_ = 0;  // of the present line
  std::uint32_t method_offset_ = 0;
  std::uint16_t method_size_ = 0;
  std::uint16_t target_size_ = 0;
  std::uint16_t name_size_ = 0;  // of the present field
  phase phase_ = phase::begin;
  http::method method_ = http::method::other;
  std::uint8_t minor_version_ = 1;
  detail::refusal error_;
  framing framing_;
  target_parts parts_;
  field_table fields_;
};

}}}}  // namespace hocket::http::detail
