#include "base/platform/descriptor.hpp"

#include <hocket/base/seam/platform/raw_calls.hpp>

#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool write_all(int fd, const char* text, std::size_t size) noexcept {
  while (size != 0) {
    const auto written = raw_calls::write(fd, text, size);
    if (written >= 0) {
      text += written;
      size -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd room{fd, POLLOUT, 0};
      if (raw_calls::poll(&room, 1, -1) < 0 && errno != EINTR) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}}}  // namespace hocket::detail
