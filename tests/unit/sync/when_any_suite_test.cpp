#include "unit/sync/kinds.hpp"

#include "suites/when_any.hpp"
