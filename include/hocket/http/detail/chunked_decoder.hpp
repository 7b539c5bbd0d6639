// The strict decoder of chunked bodies (RFC 9112, section 7.1).
//
//   chunked_decoder decoder;
//   for (;;) {
//     const auto step = decoder.decode(input);   // bytes that have arrived
//     input.remove_prefix(step.consumed);
//     switch (step.state) {...}
//   }
//
// The decoder copies nothing: data are views into the input. The decoder keeps its state between calls, so the input
// may end anywhere.
//
// Trailers are checked as fields are, and returned as raw text piece by piece. If the trailers are wanted, concatenate
// the pieces and read the text with read_trailers(). Trailers never become part of the head (RFC 9110, section 6.5.1).
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/http/detail/field_table.hpp>
#include <hocket/http/detail/refusal.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// In bytes.
struct chunked_limits {
  std::uint32_t extensions = 16 * 1024;  // of all chunks of a body together
  std::uint32_t line = 8 * 1024;         // of a trailer, without its CR LF
  std::uint32_t trailers = 16 * 1024;    // of all trailers together, with their CR LF
  std::uint16_t fields = 100;            // trailers
};
static_assert(hocket::detail::owns_nothing<chunked_limits>);

class chunked_decoder {
 public:
  enum class state : std::uint8_t {
    more,     // the whole input is consumed, and the body has not ended
    data,     // `data` has bytes of the body
    trailer,  // `data` has bytes of the trailers
    done,     // the body has ended; bytes behind `consumed` belong to the next request
    refused,  // error() has the reason
  };
  struct step {
    std::size_t consumed;
    std::string_view data;
    chunked_decoder::state state;
  };

  explicit chunked_decoder(const chunked_limits& limits = {}) noexcept : limits_(limits) {}
  step decode(std::string_view input) noexcept;
  const refusal& error() const noexcept { return error_; }
  // The number of bytes of the present chunk that have not been returned.
  std::uint64_t rest_of_chunk() const noexcept { return rest_; }

 private:
  enum class phase : std::uint8_t {
    size_begin,       // before the first digit
    size,             // a further digit, an extension or CR
    space_before,     // white space before a semicolon
    extension_begin,  // behind a semicolon
    extension_name,
    space_equals,  // white space before an equals sign or a semicolon
    value_begin,   // behind an equals sign
    value_token,
    value_quoted,
    value_escape,  // behind a backslash
    value_end,     // behind a quoted string, or white space behind a value
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_begin,
    trailer_name,
    trailer_value,
    trailer_lf,
    last_lf,
    done,
    refused,
  };

  step take_data(std::string_view input, std::size_t begin) noexcept;
  step take_trailers(std::string_view input, std::size_t begin) noexcept;
  // Each returns false if the byte is refused, after refuse(). Only read_extension_byte() does not call refuse(): the
  // caller does.
  bool read_byte(char c) noexcept;
  bool read_size(char c) noexcept;
  bool read_extension_byte(char c) noexcept;
  bool read_trailer_byte(char c) noexcept;
  bool refuse(status code, const char* section) noexcept;

  chunked_limits limits_;
  std::uint64_t rest_ = 0;
  std::uint32_t extension_bytes_ = 0;
  std::uint32_t trailer_bytes_ = 0;
  std::uint32_t line_bytes_ = 0;
  std::uint16_t trailer_fields_ = 0;
  std::uint8_t digits_ = 0;
  phase phase_ = phase::size_begin;
  refusal error_;
};

// Reads the concatenated trailers of a decoder that is done. False if they are malformed.
bool read_trailers(std::string_view text, field_table& fields) noexcept;

}}}}  // namespace hocket::http::detail
