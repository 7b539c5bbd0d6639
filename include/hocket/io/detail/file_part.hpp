// A part of a file to be sent: what a transfer of the kind send_file points to.
#pragma once
#include <hocket/io/seam/transfer.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct file_part {
  std::uint64_t offset;
  int fd;
  std::uint32_t spare = 0;  // an operation has no padding
};

// One call of sendfile(2), for a transfer of the kind send_file to this fd.
call_end send_part_of_file(int fd, transfer& sending) noexcept;

}}}  // namespace hocket::detail
