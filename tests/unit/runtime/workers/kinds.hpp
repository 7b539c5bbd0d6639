// The kinds of the suites here: tasks, fibers that stay and fibers that move, on a runtime. On a
// loop: runtime/stackful.
#pragma once
#include "suites/runtime_kinds.hpp"

#define HOCKET_SHARED_KINDS hocket_test::runtime_tasks, hocket_test::runtime_fibers, hocket_test::runtime_migrants
#define HOCKET_SUITE_KINDS HOCKET_SHARED_KINDS
#define HOCKET_TASK_KINDS HOCKET_SHARED_KINDS
