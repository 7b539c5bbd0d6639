#include "unit/runtime/workers/kinds.hpp"

#include "suites/when_any.hpp"
