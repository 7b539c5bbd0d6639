#include "unit/sync/kinds.hpp"

#include "suites/sleep.hpp"
