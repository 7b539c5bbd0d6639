#include "parts.hpp"

#include <climits>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

std::size_t size_of(const iovec* parts, int count) noexcept {
  if (count < 0 || count > IOV_MAX) return 0;
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  return size;
}

some_parts::some_parts(const iovec* parts, int all, std::size_t from) noexcept {
  for (int i = 0; i < all && count < most; ++i) {
    if (from >= parts[i].iov_len) {
      from -= parts[i].iov_len;
      continue;
    }
    list[count++] = {static_cast<std::byte*>(parts[i].iov_base) + from, parts[i].iov_len - from};
    from = 0;
  }
}

}}}  // namespace hocket::hook
