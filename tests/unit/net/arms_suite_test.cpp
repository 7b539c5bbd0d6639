#include "suites/io_kinds.hpp"

#define HOCKET_IO_KINDS                                                                                        \
  hocket_test::io_tasks, hocket_test::io_fibers, hocket_test::io_runtime_tasks, hocket_test::io_workers_tasks, \
      hocket_test::io_workers_fibers, hocket_test::io_migrants

#include "suites/arms.hpp"
