#include <hocket/base/seam/own_fds.hpp>
#include <hocket/net/detail/socket_operations.hpp>
#include <hocket/net/unix_stream.hpp>

#include "net/socket_calls.hpp"

#include <array>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

bool send_passing_operation::point() noexcept {
  if (size == 0 || count > unix_stream::max_fds) return fail(EINVAL), false;
  raw = {bytes, sent, nullptr, count, 0, 0};
  data = &raw;
  return true;
}

bool receive_passing_operation::point() noexcept {
  if (size == 0) return fail(EINVAL), false;
  raw = {bytes, nullptr, received, count, 0, 0};
  data = &raw;
  return true;
}

}  // namespace detail

result<peer_credentials> unix_stream::credentials() const noexcept {
  ucred told{};
  std::size_t size = sizeof told;
  const result<void> asked = by_backend(*this, [&](backend& by, open_descriptor& at) noexcept {
    return by.get_option(at, SOL_SOCKET, SO_PEERCRED, &told, size);
  });
  if (!asked) return failure(asked.error());
  return peer_credentials{told.pid, told.uid, told.gid};
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
