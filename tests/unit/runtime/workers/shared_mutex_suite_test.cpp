#include "unit/runtime/workers/kinds.hpp"

#include "suites/shared_mutex.hpp"
