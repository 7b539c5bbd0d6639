#include "unit/sync/kinds.hpp"

#include "suites/scope.hpp"
