#include "unit/runtime/workers/kinds.hpp"

#include "suites/context_local.hpp"
