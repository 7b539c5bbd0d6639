#include "unit/sync/kinds.hpp"

#include "suites/latch.hpp"
