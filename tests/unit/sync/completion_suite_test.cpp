#include "unit/sync/kinds.hpp"

#include "suites/completion.hpp"
