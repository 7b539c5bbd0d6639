#include "unit/coro/stackful/kinds.hpp"

#include "suites/async_generator.hpp"
