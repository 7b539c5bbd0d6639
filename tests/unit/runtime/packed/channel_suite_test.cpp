#include "unit/runtime/packed/kinds.hpp"

#include "suites/channel.hpp"
#include "suites/channel_choices.hpp"
