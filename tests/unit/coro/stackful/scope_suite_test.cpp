#include "unit/coro/stackful/kinds.hpp"

#include "suites/scope.hpp"
