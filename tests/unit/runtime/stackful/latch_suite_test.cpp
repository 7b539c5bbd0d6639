#include "unit/runtime/stackful/kinds.hpp"

#include "suites/latch.hpp"
