#include "unit/sync/kinds.hpp"

#include "suites/when.hpp"
