#include "unit/sync/kinds.hpp"

#include "suites/watch.hpp"
