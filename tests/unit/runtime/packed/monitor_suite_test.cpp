#include "unit/runtime/packed/kinds.hpp"

#include "suites/monitor.hpp"
