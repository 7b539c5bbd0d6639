// The field Range: which bytes of a representation a client wants (RFC 9110, 14.1 and 14.2).
//
//   bytes=0-499   bytes=500-   bytes=-500   bytes=0-0,-1
//
// A server may ignore the field. This server ignores the field, and answers with the whole file, if
//   - the unit is not `bytes`, or the field is malformed;
//   - the field has more than 5 ranges, or two of its ranges have a byte in common. So no answer has more than 5 parts,
//     or more bytes of the file than the file has.
// A range without a byte of the file is dropped: it begins at the end or behind it, or is `-0`. If all ranges are
// dropped, the answer is 416.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

// Bytes [begin, end) of a file; not empty.
struct byte_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const noexcept { return end - begin; }
  friend bool operator==(const byte_range&, const byte_range&) = default;
};

// The satisfiable ranges of a field, in the order of the field.
class range_set {
 public:
  static constexpr std::size_t max_ranges = 5;
  enum class outcome : std::uint8_t { ignored, unsatisfiable, satisfiable };

  // `field` is the value of Range, `size` the size of the file in bytes.
  static range_set parse(std::string_view field, std::uint64_t size) noexcept;

  outcome result() const noexcept { return outcome_; }
  std::size_t size() const noexcept { return count_; }
  const byte_range& operator[](std::size_t i) const noexcept { return ranges_[i]; }
  const byte_range* begin() const noexcept { return ranges_.data(); }
  const byte_range* end() const noexcept { return ranges_.data() + count_; }

 private:
  enum class verdict : std::uint8_t { added, dropped, refused };
  verdict add(std::string_view text, std::uint64_t size) noexcept;
  bool overlaps(const byte_range& range) const noexcept;

  std::array<byte_range, max_ranges> ranges_{};
  std::size_t count_ = 0;
  outcome outcome_ = outcome::ignored;
};

}}}  // namespace hocket::http::detail
