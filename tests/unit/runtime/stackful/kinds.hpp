// The kinds that the suites run with here: fibers and tasks on a loop. Threads, and tasks without one: tests/unit/sync.
#pragma once
#include "suites/loop_kinds.hpp"

#define HOCKET_SUITE_KINDS                                                                                \
  hocket_test::loop_tasks, hocket_test::loop_fibers, hocket_test::on_one_thread<hocket_test::loop_tasks>, \
      hocket_test::on_one_thread<hocket_test::loop_fibers>
