#include "unit/runtime/workers/kinds.hpp"

#include "suites/watch.hpp"
