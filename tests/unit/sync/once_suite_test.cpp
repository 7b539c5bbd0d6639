#include "unit/sync/kinds.hpp"

#include "suites/once.hpp"
