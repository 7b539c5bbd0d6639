#include "unit/runtime/stackful/kinds.hpp"

#include "suites/condition.hpp"
