#include "unit/runtime/packed/kinds.hpp"

#include "suites/completion.hpp"
