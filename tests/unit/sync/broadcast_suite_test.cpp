#include "unit/sync/kinds.hpp"

#include "suites/broadcast.hpp"
#include "suites/broadcast_batches.hpp"
