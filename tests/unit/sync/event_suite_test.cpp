#include "unit/sync/kinds.hpp"

#include "suites/event.hpp"
