#include "unit/runtime/workers/kinds.hpp"

#include "suites/sleep.hpp"
