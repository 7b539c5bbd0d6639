#include "unit/sync/kinds.hpp"

#include "suites/oneshot.hpp"
