// The fields of a head: positions in its bytes. Used for heads and for trailers.
//
// The table owns no bytes. Its positions are relative to the begin of the head, so the bytes may move: then
// set_begin() tells the table the new begin.
#pragma once
#include <hocket/http/detail/field_names.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

struct field_entry {
  std::uint32_t name_offset;
  std::uint16_t name_size;
  std::uint16_t value_distance;  // from the end of the name
  std::uint16_t value_size;
  known_field known;
  std::uint8_t next;  // the next entry with the same known field; 0: none, because entry 0 follows no entry
};
static_assert(sizeof(field_entry) == 12);

class field_table {
 public:
  static constexpr std::size_t max_fields = 100;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

  // The entries stay uninitialized, also by value-initialization.
  field_table() noexcept {}  // NOLINT(modernize-use-equals-default)

  std::size_t size() const noexcept { return size_; }
  bool is_full() const noexcept { return size_ == max_fields; }
  std::string_view name(std::size_t index) const noexcept {
    const field_entry& entry = entries_[index];
    return {begin_ + entry.name_offset, entry.name_size};
  }
  // The value has no white space at its ends.
  std::string_view value(std::size_t index) const noexcept {
    const field_entry& entry = entries_[index];
    return {begin_ + entry.name_offset + entry.name_size + entry.value_distance, entry.value_size};
  }
  known_field known(std::size_t index) const noexcept { return entries_[index].known; }

  // The index of the first field with the name, and of the next one behind `index`; npos if there is none.
  std::size_t find(known_field field) const noexcept {
    return has(field) ? first_[static_cast<std::size_t>(field)] : npos;
  }
  std::size_t find(std::string_view name) const noexcept;
  std::size_t find_next(std::size_t index) const noexcept;
  // Whether a field that is present has more than one line.
  bool is_repeated(known_field field) const noexcept {
    return entries_[first_[static_cast<std::size_t>(field)]].next != 0;
  }
  bool has(known_field field) const noexcept { return (present_ & bit_of(field)) != 0; }
  bool has_any_of(std::uint64_t bits) const noexcept { return (present_ & bits) != 0; }
  static constexpr std::uint64_t bit_of(known_field field) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(field);
  }

  // For the parser.
  void clear() noexcept { size_ = 0, present_ = 0; }
  void set_begin(const char* begin) noexcept { begin_ = begin; }
  // The table is not full. `next` of the entry is 0.
  void append(const field_entry& entry) noexcept {
    const std::size_t index = size_++;
    entries_[index] = entry;
    if (entry.known != known_field::unknown) link(entry.known, static_cast<std::uint8_t>(index));
  }

 private:
  void link(known_field known, std::uint8_t index) noexcept {
    const auto field = static_cast<std::size_t>(known);
    if (has(known)) entries_[last_[field]].next = index;
    else first_[field] = index;
    last_[field] = index;
    present_ |= bit_of(known);
  }
  std::size_t scan(std::size_t index, std::string_view name) const noexcept;

  const char* begin_ = nullptr;
  std::uint64_t present_ = 0;  // a bit for each known field
  std::size_t size_ = 0;
  std::array<std::uint8_t, known_field_count + 1> first_;  // read if the bit is set
  std::array<std::uint8_t, known_field_count + 1> last_;   // read if the bit is set
  std::array<field_entry, max_fields> entries_;
};

}}}}  // namespace hocket::http::detail
