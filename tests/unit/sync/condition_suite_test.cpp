#include "unit/sync/kinds.hpp"

#include "suites/condition.hpp"
