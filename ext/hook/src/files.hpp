// What is known of a descriptor's file.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI::hook {

// A file on a disk: it knows no readiness, and its calls go to the pool. One system call.
bool is_file(int number) noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
