#include "unit/runtime/stackful/kinds.hpp"

#include "suites/channel.hpp"
#include "suites/channel_choices.hpp"
