#include "unit/runtime/stackful/kinds.hpp"

#include "suites/async_generator.hpp"
