// The buffers of a scatter or gather call.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#include <cstddef>
#include <sys/types.h>
#include <sys/uio.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// The size of all buffers. 0 for an invalid list: the system reports it later.
std::size_t size_of(const iovec* parts, int count) noexcept;

// The first few buffers after `from` bytes. The caller makes its call with them, and repeats it for more.
struct some_parts {
  static constexpr int most = 16;
  some_parts(const iovec* parts, int count, std::size_t from) noexcept;
  iovec list[most];
  int count = 0;
};

// call(parts, count) with the buffers after `from` bytes.
template <class Call>
ssize_t with_parts_from(const iovec* parts, int count, std::size_t from, Call call) noexcept {
  if (from == 0) return call(parts, count);
  const some_parts rest(parts, count, from);
  return call(rest.list, rest.count);
}

}}}  // namespace hocket::hook
