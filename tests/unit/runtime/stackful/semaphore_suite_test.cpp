#include "unit/runtime/stackful/kinds.hpp"

#include "suites/semaphore.hpp"
