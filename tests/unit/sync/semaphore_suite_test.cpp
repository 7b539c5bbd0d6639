#include "unit/sync/kinds.hpp"

#include "suites/semaphore.hpp"
