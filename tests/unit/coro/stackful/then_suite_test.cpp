#include "unit/coro/stackful/kinds.hpp"

#include "suites/then.hpp"
