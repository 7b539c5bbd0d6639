// A stack that code runs on instead of its own, for the time of a call (fiber/call_on_stack.hpp). Linked from the fiber
// that makes the call, or from the thread if no fiber runs: the innermost first.
#pragma once
#include <hocket/stack/stack_pool.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct called_stack {
  stack_ref stack;
  called_stack* outer;  // the one that it was called from; null: the caller's own
  void* caller_record;  // the record of the code that made the call
};

}}}  // namespace hocket::detail
