// The kind of a descriptor's file.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Whether it is a file on a disk: such files have no readiness, so their calls run on the pool. One system call.
bool is_file(int fd) noexcept;

}}}  // namespace hocket::hook
