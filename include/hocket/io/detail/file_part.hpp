// A part of a file to be sent: what a transfer of the kind send_file points to.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct file_part {
  std::uint64_t offset;
  int fd;
  std::uint32_t spare = 0;  // an operation has no padding
};

}}}  // namespace hocket::detail
