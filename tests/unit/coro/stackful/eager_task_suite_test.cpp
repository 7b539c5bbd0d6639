#include "unit/coro/stackful/kinds.hpp"

#include "suites/eager_task.hpp"
