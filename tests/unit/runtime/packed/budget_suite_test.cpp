#include "unit/runtime/packed/kinds.hpp"

#include "suites/budget.hpp"
