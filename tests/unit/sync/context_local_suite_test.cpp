#include "unit/sync/kinds.hpp"

#include "suites/context_local.hpp"
