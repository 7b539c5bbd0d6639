#include "io_memory/memory_names.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::uint16_t first_free_port = 49152;  // the first dynamic port

std::string_view key_of(const socket_address& address) noexcept {
  return {static_cast<const char*>(address.data()), address.size()};
}

bool has_port(const socket_address& address) noexcept { return address.kind() != socket_address::family::unix_path; }

}  // namespace

int memory_names::bind(memory_object& owner, const socket_address& address, bool shares, bool v6_only,
                       socket_address& local) {
  if (!address.is_valid() || address.is_unnamed()) return EINVAL;
  const bool any_port = has_port(address) && address.port() == 0;
  const socket_address chosen = any_port ? free_address(address) : address;
  if (any_port && chosen.port() == 0) return EADDRINUSE;
  const auto [position, is_new] = entries_.try_emplace(std::string(key_of(chosen)), entry{{}, shares, v6_only});
  if (!is_new && !(shares && position->second.shares)) return EADDRINUSE;
  position->second.objects.push_back(&owner);
  local = chosen;
  return 0;
}

void memory_names::unbind(const memory_object& owner, const socket_address& local) noexcept {
  const auto position = entries_.find(key_of(local));
  if (position == entries_.end()) return;
  std::erase(position->second.objects, &owner);
  if (position->second.objects.empty()) entries_.erase(position);
}

const memory_names::entry* memory_names::find_exactly(const socket_address& address) const {
  const auto position = entries_.find(key_of(address));
  return position == entries_.end() ? nullptr : &position->second;
}

const std::vector<memory_object*>& memory_names::find(const socket_address& address) const {
  static const std::vector<memory_object*> none;
  if (const entry* const exact = find_exactly(address)) return exact->objects;
  if (!address.is_valid() || !has_port(address)) return none;
  const bool is_v4 = address.kind() == socket_address::family::v4;
  const entry* const any_v4 = is_v4 ? find_exactly(socket_address::any_v4(address.port())) : nullptr;
  if (any_v4) return any_v4->objects;
  const entry* const any_v6 = find_exactly(socket_address::any_v6(address.port()));
  return any_v6 && !(is_v4 && any_v6->v6_only) ? any_v6->objects : none;
}

// Port 0: all ports are in use.
socket_address memory_names::free_address(const socket_address& host) {
  if (!has_port(host)) {
    const sa_family_t unnamed = AF_UNIX;
    return {&unnamed, sizeof unnamed};
  }
  for (std::uint32_t tries = 0; tries != 65536 - first_free_port; ++tries) {
    const socket_address chosen = host.with_port(next_port_);
    next_port_ = next_port_ == 65535 ? first_free_port : static_cast<std::uint16_t>(next_port_ + 1);
    if (!find_exactly(chosen)) return chosen;
  }
  return host.with_port(0);
}

}}}  // namespace hocket::detail
