#include "unit/runtime/packed/kinds.hpp"

#include "suites/async_generator.hpp"
