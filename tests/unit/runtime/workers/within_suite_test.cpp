#include "unit/runtime/workers/kinds.hpp"

#include "suites/within.hpp"
