#include "unit/sync/kinds.hpp"

#include "suites/mutex.hpp"
