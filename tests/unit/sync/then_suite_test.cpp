#include "unit/sync/kinds.hpp"

#include "suites/then.hpp"
