#include "unit/runtime/workers/kinds.hpp"

#include "suites/once.hpp"
