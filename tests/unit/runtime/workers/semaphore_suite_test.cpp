#include "unit/runtime/workers/kinds.hpp"

#include "suites/semaphore.hpp"
