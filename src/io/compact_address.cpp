#include <hocket/io/detail/compact_address.hpp>

#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t scope_offset = 4;  // in the host

template <class T>
T copy_of(const void* bytes) noexcept {
  T copy;
  std::memcpy(&copy, bytes, sizeof copy);
  return copy;
}

bool has_room_for_scope(const in6_addr& host) noexcept {
  return IN6_IS_ADDR_LINKLOCAL(&host) && copy_of<std::uint32_t>(host.s6_addr + scope_offset) == 0;
}

}  // namespace

void compact_address::assign(const void* address, std::size_t size) noexcept {
  *this = {};
  if (size < sizeof(sa_family_t)) return;
  const auto family = copy_of<sa_family_t>(address);
  if (family == AF_INET && size >= sizeof(sockaddr_in)) assign_v4(address);
  if (family == AF_INET6 && size >= sizeof(sockaddr_in6)) assign_v6(address);
}

void compact_address::assign_v4(const void* address) noexcept {
  const auto source = copy_of<sockaddr_in>(address);
  std::memcpy(host_.data(), &source.sin_addr, sizeof source.sin_addr);
  std::memcpy(port_.data(), &source.sin_port, sizeof source.sin_port);
  form_ = form::v4;
}

void compact_address::assign_v6(const void* address) noexcept {
  const auto source = copy_of<sockaddr_in6>(address);
  const std::uint32_t scope = source.sin6_scope_id;
  if (scope != 0 && !has_room_for_scope(source.sin6_addr)) return;
  std::memcpy(host_.data(), &source.sin6_addr, sizeof source.sin6_addr);
  if (scope != 0) std::memcpy(host_.data() + scope_offset, &scope, sizeof scope);
  std::memcpy(port_.data(), &source.sin6_port, sizeof source.sin6_port);
  form_ = scope != 0 ? form::v6_scoped : form::v6;
}

std::size_t compact_address::copy_to(void* target) const noexcept {
  if (empty()) return 0;
  if (form_ == form::v4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    std::memcpy(&v4.sin_addr, host_.data(), sizeof v4.sin_addr);
    std::memcpy(&v4.sin_port, port_.data(), sizeof v4.sin_port);
    std::memcpy(target, &v4, sizeof v4);
    return sizeof v4;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  std::memcpy(&v6.sin6_addr, host_.data(), sizeof v6.sin6_addr);
  std::memcpy(&v6.sin6_port, port_.data(), sizeof v6.sin6_port);
  if (form_ == form::v6_scoped) {
    v6.sin6_scope_id = copy_of<std::uint32_t>(host_.data() + scope_offset);
    std::memset(v6.sin6_addr.s6_addr + scope_offset, 0, sizeof v6.sin6_scope_id);
  }
  std::memcpy(target, &v6, sizeof v6);
  return sizeof v6;
}

}}}  // namespace hocket::detail
