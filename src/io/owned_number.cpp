#include <hocket/io/owned_number.hpp>

#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

void unique_fd::close() noexcept {
  if (const int number = release(); number >= 0) ::close(number);
}

}}  // namespace hocket
