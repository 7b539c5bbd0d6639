#include <hocket/io/detail/file_part.hpp>
#include <io/platform/system_calls.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

static constexpr std::size_t max_size_of_call = std::size_t{256} * 1024;

// sendfile(2) has no flag for one non-blocking call.
static bool may_block(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

// If a call sends less than `size`, the stream is full, or the file ends: the next call shows which.
call_end send_part_of_file(int fd, transfer& operation) noexcept {
  if (operation.done == 0 && may_block(fd)) {
    operation.fail(EINVAL);
    return call_end::done;
  }
  const file_part& part = *static_cast<const file_part*>(operation.data);
  const std::size_t size = std::min(operation.size - operation.done, max_size_of_call);
  long sent = 0;
  do sent = system_calls::send_file_without_signal(fd, part.fd, part.offset + operation.done, size);
  while (sent == -EINTR);
  if (sent == -EAGAIN) return call_end::blocks;
  if (sent < 0) {
    operation.fail(static_cast<int>(-sent));
    return call_end::done;
  }
  operation.done += static_cast<std::size_t>(sent);
  if (sent != 0 && operation.done != operation.size) return call_end::more;
  operation.ended = true;
  return call_end::done;
}

}}}  // namespace hocket::detail
