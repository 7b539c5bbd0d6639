#include "unit/runtime/stackful/kinds.hpp"

#include "suites/eager_task.hpp"
