#include "unit/runtime/packed/kinds.hpp"

#include "suites/condition.hpp"
