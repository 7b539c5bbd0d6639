// Whether the kernel copies memory of this process for it: qemu-user has no process_vm_readv, and a sandbox may forbid
// it.
#pragma once
#include <hocket/base/seam/copy_memory.hpp>

namespace hocket_test {

inline bool kernel_copies() {
  const char from = 1;
  char to = 0;
  return hocket::detail::copy_memory(&to, &from, 1) && to == from;
}

}  // namespace hocket_test
