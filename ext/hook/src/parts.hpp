// Buffers of a scattered call.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

#include <cstddef>
#include <sys/types.h>
#include <sys/uio.h>

namespace hocket::inline HOCKET_ABI::hook {

// 0 if they are no valid list: then the system says so.
std::size_t size_of(const iovec* parts, int count) noexcept;

// A few of what comes `from` so many bytes behind the begin. The caller makes its call with those, and repeats it.
struct some_parts {
  static constexpr int most = 16;
  some_parts(const iovec* parts, int count, std::size_t from) noexcept;
  iovec list[most];
  int count = 0;
};

// call(parts, count) with what comes from there on.
template <class Call>
ssize_t with_parts_from(const iovec* parts, int count, std::size_t from, Call call) noexcept {
  if (from == 0) return call(parts, count);
  const some_parts rest(parts, count, from);
  return call(rest.list, rest.count);
}

}  // namespace hocket::inline HOCKET_ABI::hook
