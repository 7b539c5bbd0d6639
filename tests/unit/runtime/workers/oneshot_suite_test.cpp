#include "unit/runtime/workers/kinds.hpp"

#include "suites/oneshot.hpp"
