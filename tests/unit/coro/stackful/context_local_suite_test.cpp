#include "unit/coro/stackful/kinds.hpp"

#include "suites/context_local.hpp"
