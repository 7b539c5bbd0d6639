#include "unit/runtime/packed/kinds.hpp"

#include "suites/semaphore.hpp"
