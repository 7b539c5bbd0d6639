#include "unit/runtime/stackful/kinds.hpp"

#include "suites/shared_task.hpp"
