// The address of an internet socket in 19 bytes: a descriptor's record of its peer. It remains after a reset of the
// connection, when the system no longer has the address.
//
//   host    16 bytes   IPv6; the first four for IPv4. The scope of a link-local address (fe80::/10) is in bytes 4 to 7,
//                      which are zero in each such address that a system makes.
//   port     2 bytes   in network order
//   form     1 byte
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class compact_address {
 public:
  bool empty() const noexcept { return form_ == form::none; }
  void clear() noexcept { form_ = form::none; }
  // Copies a sockaddr. Becomes empty if the family is another, or if the address does not fit.
  void assign(const void* address, std::size_t size) noexcept;
  // Writes the sockaddr, of at most 28 bytes, and returns its size; 0 for an empty address.
  std::size_t copy_to(void* target) const noexcept;

  friend bool operator==(const compact_address&, const compact_address&) noexcept = default;

 private:
  enum class form : std::uint8_t { none, v4, v6, v6_scoped };
  void assign_v4(const void* address) noexcept;
  void assign_v6(const void* address) noexcept;

  std::array<unsigned char, 16> host_{};
  std::array<unsigned char, 2> port_{};
  form form_ = form::none;
};
static_assert(sizeof(compact_address) == 19);

}}}  // namespace hocket::detail
