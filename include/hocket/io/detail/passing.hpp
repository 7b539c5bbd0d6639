// Bytes of a unix socket with the descriptors that are passed with them, as the backends see them.
#pragma once
#include <hocket/io/unique_fd.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Sent: the bytes, and the fds. Received: the room for both, and what came.
struct passing {
  void* bytes = nullptr;  // their number is the transfer's size
  const int* sent = nullptr;
  unique_fd* room = nullptr;
  std::size_t count = 0;   // of `sent`, or of `room`
  std::size_t passed = 0;  // how many of `room` were filled
  std::size_t cut = 0;     // there were more
};

}}}  // namespace hocket::detail
