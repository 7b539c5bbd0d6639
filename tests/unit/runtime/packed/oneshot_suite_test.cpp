#include "unit/runtime/packed/kinds.hpp"

#include "suites/oneshot.hpp"
