#include "unit/sync/kinds.hpp"

#include "suites/select.hpp"
