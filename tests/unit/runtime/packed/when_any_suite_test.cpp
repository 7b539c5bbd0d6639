#include "unit/runtime/packed/kinds.hpp"

#include "suites/when_any.hpp"
