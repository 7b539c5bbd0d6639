#include "unit/runtime/workers/kinds.hpp"

#include "suites/completion.hpp"
