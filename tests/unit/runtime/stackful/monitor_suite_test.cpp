#include "unit/runtime/stackful/kinds.hpp"

#include "suites/monitor.hpp"
