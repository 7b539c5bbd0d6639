#include "unit/runtime/workers/kinds.hpp"

#include "suites/event.hpp"
