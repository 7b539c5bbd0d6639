#include "unit/coro/stackful/kinds.hpp"

#include "suites/shared_task.hpp"
