// The suites of the primitives, for fibers and tasks on a loop. Threads, and tasks without a loop: tests/unit/sync.
#include "suites/loop_kinds.hpp"

#define HOCKET_SUITE_KINDS                                                                                \
  hocket_test::loop_tasks, hocket_test::loop_fibers, hocket_test::on_one_thread<hocket_test::loop_tasks>, \
      hocket_test::on_one_thread<hocket_test::loop_fibers>

#include "suites/event.hpp"
#include "suites/mutex.hpp"
#include "suites/oneshot.hpp"
#include "suites/select.hpp"
#include "suites/semaphore.hpp"
#include "suites/within.hpp"
