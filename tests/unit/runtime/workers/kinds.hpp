// The kinds that the suites run with here: tasks and fibers on a runtime, those that stay and those that move. On a
// loop: runtime/stackful.
#pragma once
#include "suites/runtime_kinds.hpp"

#define HOCKET_SHARED_KINDS hocket_test::runtime_tasks, hocket_test::runtime_fibers, hocket_test::runtime_migrants
#define HOCKET_SUITE_KINDS HOCKET_SHARED_KINDS
#define HOCKET_TASK_KINDS HOCKET_SHARED_KINDS
