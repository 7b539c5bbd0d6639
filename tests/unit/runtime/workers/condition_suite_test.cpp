#include "unit/runtime/workers/kinds.hpp"

#include "suites/condition.hpp"
