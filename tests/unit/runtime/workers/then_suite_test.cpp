#include "unit/runtime/workers/kinds.hpp"

#include "suites/then.hpp"
