// The kinds that the suites of tasks run with here: on a loop, fibers whose stacks are not there while they wait among
// them. Threads, and tasks without a loop: tests/unit/sync.
#pragma once
#include "suites/loop_kinds.hpp"

#define HOCKET_SHARED_KINDS \
  hocket_test::loop_tasks, hocket_test::loop_fibers, hocket_test::packed_fibers, hocket_test::copied_fibers
#define HOCKET_SUITE_KINDS HOCKET_SHARED_KINDS
#define HOCKET_TASK_KINDS HOCKET_SHARED_KINDS
