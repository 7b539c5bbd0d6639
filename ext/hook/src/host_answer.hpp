// An answer of gethostbyname_r() and its family, which owns the buffer that the answer refers to.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#include <cstddef>
#include <netdb.h>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

struct host_answer {
  explicit host_answer(std::size_t size) : buffer(size) {}

  // Copies the answer, and makes its pointers refer to the copy. `to` is as large as the buffer.
  void copy_to(hostent& copy, char* to) const noexcept;
  // The answer where it is now: moving a vector leaves its bytes in place. Null: there is none.
  hostent* found_here() noexcept { return found ? &host : nullptr; }

  std::vector<char> buffer;
  hostent host{};
  hostent* found = nullptr;  // as the call returned it
  int host_error = NETDB_INTERNAL;
  int result = 0;  // an errno
};

}}}  // namespace hocket::hook
