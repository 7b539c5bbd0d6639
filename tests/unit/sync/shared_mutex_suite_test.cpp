#include "unit/sync/kinds.hpp"

#include "suites/shared_mutex.hpp"
