// The suites of the primitives, for tasks and for threads. Fibers and tasks on a loop: tests/unit/runtime.
#include "suites/staged_threads.hpp"
#include "suites/stepped_tasks.hpp"

#define HOCKET_SUITE_KINDS \
  hocket_test::stepped_tasks, hocket_test::staged_threads, hocket_test::on_one_thread<hocket_test::stepped_tasks>

#include "suites/event.hpp"
#include "suites/mutex.hpp"
#include "suites/oneshot.hpp"
#include "suites/select.hpp"
#include "suites/semaphore.hpp"
#include "suites/within.hpp"
