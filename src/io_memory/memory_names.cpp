#include "io_memory/memory_names.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::uint16_t first_free_port = 49152;  // up to the last port

std::string_view key_of(const socket_address& at) noexcept { return {static_cast<const char*>(at.data()), at.size()}; }

bool has_port(const socket_address& at) noexcept { return at.kind() != socket_address::family::unix_path; }

}  // namespace

int memory_names::bind(memory_object& owner, const socket_address& at, bool shares, bool v6_only,
                       socket_address& local) {
  if (!at.is_valid() || at.is_unnamed()) return EINVAL;
  const bool any_port = has_port(at) && at.port() == 0;
  const socket_address chosen = any_port ? free_address(at) : at;
  if (any_port && chosen.port() == 0) return EADDRINUSE;
  const auto [place, fresh] = entries_.try_emplace(std::string(key_of(chosen)), entry{{}, shares, v6_only});
  if (!fresh && !(shares && place->second.shares)) return EADDRINUSE;
  place->second.all.push_back(&owner);
  local = chosen;
  return 0;
}

void memory_names::unbind(const memory_object& owner, const socket_address& local) noexcept {
  const auto place = entries_.find(key_of(local));
  if (place == entries_.end()) return;
  std::erase(place->second.all, &owner);
  if (place->second.all.empty()) entries_.erase(place);
}

const memory_names::entry* memory_names::find_exactly(const socket_address& at) const {
  const auto place = entries_.find(key_of(at));
  return place == entries_.end() ? nullptr : &place->second;
}

const std::vector<memory_object*>& memory_names::find(const socket_address& at) const {
  static const std::vector<memory_object*> nothing;
  if (const entry* const exact = find_exactly(at)) return exact->all;
  if (!at.is_valid() || !has_port(at)) return nothing;
  const bool is_v4 = at.kind() == socket_address::family::v4;
  const entry* const any_v4 = is_v4 ? find_exactly(socket_address::any_v4(at.port())) : nullptr;
  if (any_v4) return any_v4->all;
  const entry* const any_v6 = find_exactly(socket_address::any_v6(at.port()));
  return any_v6 && !(is_v4 && any_v6->v6_only) ? any_v6->all : nothing;
}

// Port 0: all are in use.
socket_address memory_names::free_address(const socket_address& host) {
  if (!has_port(host)) {
    const sa_family_t nameless = AF_UNIX;
    return {&nameless, sizeof nameless};
  }
  for (std::uint32_t tries = 0; tries != 65536 - first_free_port; ++tries) {
    const socket_address chosen = host.with_port(next_port_);
    next_port_ = next_port_ == 65535 ? first_free_port : static_cast<std::uint16_t>(next_port_ + 1);
    if (!find_exactly(chosen)) return chosen;
  }
  return host.with_port(0);
}

}}}  // namespace hocket::detail
