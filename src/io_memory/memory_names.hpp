// The bound addresses of a network in memory, and their objects. Connections and datagrams have a table each.
//
// Access: under the medium's mutex.
#pragma once
#include <hocket/net/address.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_object;

class memory_names {
 public:
  // Binds the object, and sets `local` to its address: `address`, with a free port instead of port 0. Returns an error
  // number, or 0. `shares`: several objects may have the address. `v6_only`: [::] is not found for IPv4. Throws
  // std::bad_alloc.
  int bind(memory_object& owner, const socket_address& address, bool shares, bool v6_only, socket_address& local);
  // Without effect if the object is not bound to `local`.
  void unbind(const memory_object& owner, const socket_address& local) noexcept;
  // Returns the objects that are bound to the address, or else to the wildcard address with its port.
  const std::vector<memory_object*>& find(const socket_address& address) const;
  // Returns the address with an unbound port; for unix sockets the unnamed address.
  socket_address free_address(const socket_address& host);

 private:
  struct entry {
    std::vector<memory_object*> objects;
    bool shares;
    bool v6_only;
  };
  const entry* find_exactly(const socket_address& address) const;

  std::map<std::string, entry, std::less<>> entries_;
  std::uint16_t next_port_ = 49152;
};

}}}  // namespace hocket::detail
