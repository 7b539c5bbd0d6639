// The kinds that the suites run with here: tasks and fibers on a runtime. On a loop: runtime/stackful.
#pragma once
#include "suites/runtime_kinds.hpp"

#define HOCKET_SHARED_KINDS hocket_test::runtime_tasks, hocket_test::runtime_fibers
#define HOCKET_SUITE_KINDS HOCKET_SHARED_KINDS
#define HOCKET_TASK_KINDS HOCKET_SHARED_KINDS
