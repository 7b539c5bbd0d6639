#include <hocket/core/yield.hpp>
#include <hocket/io/send_file.hpp>
#include <io/platform/system_calls.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

// An error number below 0, if it sends nothing.
static long send_some(const stream& to, int file, std::uint64_t offset, std::size_t count) noexcept {
  constexpr std::size_t most_in_one_call = std::size_t{256} * 1024;
  const used_fd fd(to);
  if (fd.is_open() && *fd < 0) return -EOPNOTSUPP;
  return system_calls::send_file_without_signal(*fd, file, offset, std::min(count, most_in_one_call));
}

// Its calls would block: a standard stream, whose mode other processes share.
static bool may_block(const stream& to) noexcept {
  const used_fd fd(to);
  const int flags = ::fcntl(*fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

task<result<std::size_t>> send_file(stream& sink, int file, std::uint64_t offset, std::size_t count) {
  if (descriptor_access::record_of(sink).out.has_partial_write()) co_return failure(errc::partial_write);
  if (may_block(sink)) co_return failure(std::errc::invalid_argument);
  std::size_t sent = 0;
  while (sent != count) {
    const long some = send_some(sink, file, offset + sent, count - sent);
    if (some == 0) break;
    if (some > 0) {
      sent += static_cast<std::size_t>(some);
      const waited turn = co_await yield();
      if (!turn) co_return failure(turn.error());
    } else if (some == -EAGAIN) {
      const result<void> room = co_await sink.writable();
      if (!room) co_return failure(room.error());
    } else if (some != -EINTR) {
      co_return failure_of_transfer(static_cast<int>(-some));
    }
  }
  co_return sent;
}

}}  // namespace hocket
