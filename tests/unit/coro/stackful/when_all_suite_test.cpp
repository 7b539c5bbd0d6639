#include "unit/coro/stackful/kinds.hpp"

#include "suites/when_all.hpp"
