// accept(2), for what waits for connections and for what does not wait.
#pragma once
#include <hocket/io/detail/compact_address.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The number of the next connection at a listener, which does not block and is not inherited; an error number below 0.
// Errors of single connections and of their networks are passed over.
long accept_fd(int listener) noexcept;
// The same, with the address of the peer, which is then known also if the connection has been reset meanwhile.
long accept_fd(int listener, compact_address& peer) noexcept;

}}}  // namespace hocket::detail
