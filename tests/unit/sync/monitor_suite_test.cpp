#include "unit/sync/kinds.hpp"

#include "suites/monitor.hpp"
