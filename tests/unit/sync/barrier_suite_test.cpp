#include "unit/sync/kinds.hpp"

#include "suites/barrier.hpp"
