// accept(2), for operations that wait for connections and for calls that do not.
#pragma once
#include <hocket/io/detail/compact_address.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Returns the fd of the next connection at a listener, non-blocking and close-on-exec, or a negative error number.
// Skips errors of single connections and of their networks.
long accept_fd(int listener) noexcept;
// As above, with the address of the peer, which is then known even after a reset of the connection.
long accept_fd(int listener, compact_address& peer) noexcept;

}}}  // namespace hocket::detail
