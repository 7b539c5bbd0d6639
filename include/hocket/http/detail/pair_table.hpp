// The decoded pairs of a query or a form: "a=1&b=2".
//
// A table is decoded once, at the first use, into the request's arena. The decoded text is at most as long as the raw
// text. Limits: 1,000 pairs; the size of the raw text is limited by the head or the body. Empty pairs ("&&") are
// skipped and not counted.
#pragma once
#include <hocket/http/detail/arena.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

struct name_value {
  std::string_view name;
  std::string_view value;
};

class pair_table {
 public:
  static constexpr std::size_t max_pairs = 1000;

  bool is_decoded() const noexcept { return state_ != state::raw; }
  // Whether each percent sign has two hexadecimal digits behind it, and the limit is kept.
  bool is_valid() const noexcept { return state_ == state::valid; }
  // Decodes the raw text. Throws std::bad_alloc; then the table is not decoded.
  void decode(std::string_view raw, arena& memory);
  // The value of the first pair with the name. Call it only if is_valid(): a malformed table has the pairs before the
  // malformed one.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  const name_value* begin() const noexcept { return pairs_; }
  const name_value* end() const noexcept { return pairs_ + size_; }

 private:
  enum class state : std::uint8_t { raw, valid, malformed };

  name_value* pairs_ = nullptr;
  std::size_t size_ = 0;
  state state_ = state::raw;
};

// The value of the first cookie with the name in a Cookie field (RFC 6265, section 4.2.1), without its quotes.
std::optional<std::string_view> find_cookie(std::string_view field, std::string_view name) noexcept;

}}}}  // namespace hocket::http::detail
