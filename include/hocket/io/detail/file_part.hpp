// A part of a file to send: the argument of a transfer of the kind send_file.
#pragma once
#include <hocket/io/seam/transfer.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct file_part {
  std::uint64_t offset;
  int fd;
  std::uint32_t spare = 0;  // an operation has no padding
};

// Makes one call of sendfile(2) to `fd`, for a transfer of the kind send_file.
call_end send_part_of_file(int fd, transfer& operation) noexcept;

}}}  // namespace hocket::detail
