#include "unit/runtime/stackful/kinds.hpp"

#include "suites/within.hpp"
