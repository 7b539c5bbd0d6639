#include "unit/runtime/workers/kinds.hpp"

#include "suites/async_generator.hpp"
