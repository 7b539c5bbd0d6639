#include <hocket/base/seam/own_fds.hpp>
#include <hocket/net/detail/socket_operations.hpp>
#include <hocket/net/unix_stream.hpp>

#include "net/socket_calls.hpp"

#include <array>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

bool send_passing_operation::point() noexcept {
  if (size == 0 || count > unix_stream::max_fds) {
    fail(EINVAL);
    return false;
  }
  raw = {bytes, sent, nullptr, count, 0, 0};
  data = &raw;
  return true;
}

bool receive_passing_operation::point() noexcept {
  if (size == 0) {
    fail(EINVAL);
    return false;
  }
  raw = {bytes, nullptr, received, count, 0, 0};
  data = &raw;
  return true;
}

}  // namespace detail

result<peer_credentials> unix_stream::credentials() const noexcept {
  ucred peer{};
  std::size_t size = sizeof peer;
  const result<void> read = call_backend(*this, [&](backend& sockets, open_descriptor& record) noexcept {
    return sockets.get_option(record, SOL_SOCKET, SO_PEERCRED, &peer, size);
  });
  if (!read) return failure(read.error());
  return peer_credentials{peer.pid, peer.uid, peer.gid};
}

result<unix_pair> make_unix_pair() noexcept {
  std::array<int, 2> ends{};
  if (own_fds(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), ends) != 0)
    return failure_of_transfer(errno);
  result<descriptor> near = descriptor_of_socket(ends[0], false), far = descriptor_of_socket(ends[1], false);
  if (!near) return failure(near.error());
  if (!far) return failure(far.error());
  return unix_pair{unix_stream(std::move(*near)), unix_stream(std::move(*far))};
}

}}  // namespace hocket
