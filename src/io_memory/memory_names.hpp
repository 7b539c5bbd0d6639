// The addresses of a network in memory, and what is bound to each: one table for connections, one for datagrams.
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
  // Sets `local` to the object's address: `at`, with a free port instead of port 0. An error number, or 0. `shares`:
  // several objects may have the address. `v6_only`: [::] is not found for IPv4. Throws std::bad_alloc.
  int bind(memory_object& owner, const socket_address& at, bool shares, bool v6_only, socket_address& local);
  // Does nothing if it is not bound to `local`.
  void unbind(const memory_object& owner, const socket_address& local) noexcept;
  // What is bound to the address itself, or to any address with its port; empty: nothing.
  const std::vector<memory_object*>& find(const socket_address& at) const;
  // The address with a port that nobody has, or a name of nothing for unix sockets.
  socket_address free_address(const socket_address& host);

 private:
  struct entry {
    std::vector<memory_object*> all;
    bool shares;
    bool v6_only;
  };
  const entry* find_exactly(const socket_address& at) const;

  std::map<std::string, entry, std::less<>> entries_;
  std::uint16_t next_port_ = 49152;
};

}}}  // namespace hocket::detail
