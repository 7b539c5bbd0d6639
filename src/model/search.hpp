// The search over all executions of an engine's body, within bounds.
#pragma once
#include "engine.hpp"

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

report search(engine& runner, const options& bounds);

}}}  // namespace hocket::model
