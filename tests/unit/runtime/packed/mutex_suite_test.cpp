#include "unit/runtime/packed/kinds.hpp"

#include "suites/mutex.hpp"
