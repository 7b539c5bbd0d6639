#include "unit/runtime/stackful/kinds.hpp"

#include "suites/completion.hpp"
