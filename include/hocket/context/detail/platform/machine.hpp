// Dispatch to the back end: the one that was asked for, else the architecture's.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#if HOCKET_BACKEND == 1
#include <hocket/context/detail/ucontext/machine.hpp>
#elif HOCKET_BACKEND == 2
#include <hocket/context/detail/os_thread/machine.hpp>
#elif defined(__x86_64__) && defined(__LP64__)
#include <hocket/context/detail/x86_64/machine.hpp>
#elif defined(__aarch64__) && defined(__LP64__)
#include <hocket/context/detail/aarch64/machine.hpp>
#elif defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_float_abi_double)
#include <hocket/context/detail/riscv64/machine.hpp>
#else
#error \
    "hocket: no machine switch for this architecture: configure with -DHOCKET_BACKEND=ucontext or thread (slow), or with -DHOCKET_STACKFUL=OFF (tasks and generators only)"
#endif
