#include "unit/runtime/stackful/kinds.hpp"

#include "suites/shared_mutex.hpp"
