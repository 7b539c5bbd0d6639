#include "unit/runtime/stackful/kinds.hpp"

#include "suites/barrier.hpp"
