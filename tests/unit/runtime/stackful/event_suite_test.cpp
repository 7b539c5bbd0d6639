#include "unit/runtime/stackful/kinds.hpp"

#include "suites/event.hpp"
