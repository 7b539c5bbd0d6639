#include "unit/runtime/workers/kinds.hpp"

#include "suites/monitor.hpp"
