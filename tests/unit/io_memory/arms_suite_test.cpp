#include "suites/memory_kinds.hpp"

#define HOCKET_IO_KINDS                                                                    \
  hocket_test::memory_tasks, hocket_test::memory_fibers, hocket_test::memory_unkind_tasks, \
      hocket_test::memory_workers_tasks, hocket_test::memory_migrants

#include "suites/arms.hpp"
