#include "unit/runtime/workers/kinds.hpp"

#include "suites/scope.hpp"
