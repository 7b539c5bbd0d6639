#include "unit/runtime/stackful/kinds.hpp"

#include "suites/mutex.hpp"
