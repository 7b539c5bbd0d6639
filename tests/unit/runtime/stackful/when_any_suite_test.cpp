#include "unit/runtime/stackful/kinds.hpp"

#include "suites/when_any.hpp"
