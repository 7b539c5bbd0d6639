// The peer of a connection, and the client of a request behind trusted proxies: found at the first use.
#pragma once
#include <hocket/http/detail/forwarded.hpp>
#include <hocket/http/request.hpp>
#include <hocket/net/address.hpp>
#include <hocket/net/tcp.hpp>
#include <optional>

#include "http/site.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// Of a connection that begins with a header of the PROXY protocol.
struct proxied_peer {
  bool is_read = false;
  socket_address source{};  // invalid: the header names no address
};

class client_data {
 public:
  // `proxied`: null, if the connection has no header of the PROXY protocol.
  client_data(const site& home, const tcp::stream& stream, proxied_peer* proxied) noexcept
      : site_(home), stream_(stream), proxied_(proxied) {}

  const socket_address& peer() noexcept {
    if (proxied_ && proxied_->source.is_valid()) return proxied_->source;
    if (!peer_) peer_ = stream_.peer_address();
    return *peer_;
  }
  bool awaits_proxy_header() const noexcept { return proxied_ && !proxied_->is_read; }
  void set_proxied(const socket_address& source) noexcept { *proxied_ = {true, source}; }
  // The views are valid until the end of the request.
  const forwarded_client& find(const request& rq) noexcept {
    if (!client_) client_ = read(rq);
    return *client_;
  }
  // The request ends.
  void forget_client() noexcept { client_.reset(); }

 private:
  // Without memory for joined lines, the peer counts.
  forwarded_client read(const request& rq) noexcept try {
    if (site_.trusted.empty()) return {peer()};
    forwarded_fields fields;
    if (site_.options.proxies_set == proxy_field::forwarded) {
      fields.list = rq.header("Forwarded").value_or("");
    } else {
      fields.list = rq.header("X-Forwarded-For").value_or("");
      fields.scheme = rq.header("X-Forwarded-Proto").value_or("");
    }
    return find_client(peer(), site_.trusted, site_.options.proxies_set, fields);
  } catch (const std::bad_alloc&) {
    return {peer()};
  }

  const site& site_;
  const tcp::stream& stream_;
  proxied_peer* const proxied_;
  std::optional<socket_address> peer_;
  std::optional<forwarded_client> client_;
};

}}}}  // namespace hocket::http::detail
