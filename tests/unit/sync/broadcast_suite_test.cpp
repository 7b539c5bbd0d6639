#include "unit/sync/kinds.hpp"

#include "suites/broadcast.hpp"
