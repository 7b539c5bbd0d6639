// The kinds that the suites run with here: tasks and threads. Fibers, and tasks on a loop: tests/unit/runtime.
#pragma once
#include "suites/staged_threads.hpp"
#include "suites/stepped_tasks.hpp"

#define HOCKET_SUITE_KINDS \
  hocket_test::stepped_tasks, hocket_test::staged_threads, hocket_test::on_one_thread<hocket_test::stepped_tasks>

// The same for suites in which the strength of a primitive makes no difference.
#define HOCKET_SHARED_KINDS hocket_test::stepped_tasks, hocket_test::staged_threads

// For suites that await tasks: a thread of this kind can wait for primitives only.
#define HOCKET_TASK_KINDS hocket_test::stepped_tasks
