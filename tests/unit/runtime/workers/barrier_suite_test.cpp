#include "unit/runtime/workers/kinds.hpp"

#include "suites/barrier.hpp"
