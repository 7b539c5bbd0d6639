#include "unit/sync/kinds.hpp"

#include "suites/within.hpp"
