#include "unit/runtime/workers/kinds.hpp"

#include "suites/broadcast.hpp"
