#include <hocket/io/unique_fd.hpp>

#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

void unique_fd::close() noexcept {
  if (const int fd = release(); fd >= 0) ::close(fd);
}

}}  // namespace hocket
