// Dispatch to the back end of the architecture.
#pragma once
#if defined(__x86_64__) && defined(__LP64__)
#include <hocket/context/x86_64/machine.hpp>
#else
#error \
    "hocket: no machine switch for this architecture: configure with -DHOCKET_STACKFUL=OFF (tasks and generators only)"
#endif
