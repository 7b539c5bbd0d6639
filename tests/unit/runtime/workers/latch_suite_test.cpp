#include "unit/runtime/workers/kinds.hpp"

#include "suites/latch.hpp"
