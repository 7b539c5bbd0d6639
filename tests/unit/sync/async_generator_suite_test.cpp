#include "suites/stepped_tasks.hpp"

#define HOCKET_SUITE_KINDS hocket_test::stepped_tasks

#include "suites/async_generator.hpp"
