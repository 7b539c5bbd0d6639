// The kinds that the suites run with here: fibers whose stacks are not there while they wait. Others: runtime/stackful.
#pragma once
#include "suites/loop_kinds.hpp"

#define HOCKET_SUITE_KINDS hocket_test::packed_fibers, hocket_test::copied_fibers
