#include "unit/runtime/stackful/kinds.hpp"

#include "suites/budget.hpp"
