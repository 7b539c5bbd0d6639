#include "http/serve_connection.hpp"

#include <hocket/base/error.hpp>

#include "http/connection.hpp"
#include "http/peer_waits.hpp"
#include "http/site.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// If the peer has to send a header of the PROXY protocol.
static std::unique_ptr<proxied_peer> place_for_proxied(const tcp::stream& peer, const site& home) {
  if (!home.options.proxy_protocol || !home.trusted.contains(peer.peer_address())) return nullptr;
  return std::make_unique<proxied_peer>();
}

// The end of a connection without a request. A peer that is silent, or resets the connection, is no failure.
static result<void> end_of_wait(std::error_code error) noexcept {
  if (error == std::errc::operation_canceled) return failure(error);
  return {};
}

// Its frame is all that an idle connection has.
task<result<void>> serve_connection(tcp::stream peer, site& home) {
  const std::unique_ptr<proxied_peer> proxied = place_for_proxied(peer, home);
  duration patience = home.options.limits.first_byte;
  for (;;) {
    result<borrowed_bytes> bytes = co_await wait_for_request(peer, patience);
    if (!bytes) co_return end_of_wait(bytes.error());
    if (bytes->empty()) co_return {};
    const auto active = std::make_unique<connection>(home, peer, std::move(*bytes), proxied.get());
    const connection::fate fate = co_await active->run();
    if (fate == connection::fate::closed) co_return {};
    if (fate == connection::fate::cancelled) co_return failure(hocket::errc::cancelled);
    patience = home.options.limits.idle;
  }
}

}}}}  // namespace hocket::http::detail
