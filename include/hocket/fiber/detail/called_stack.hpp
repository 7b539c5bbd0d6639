// A stack that code uses instead of its own during a call (fiber/call_on_stack.hpp). Linked from the calling fiber, or
// from the thread if no fiber runs: the innermost first.
#pragma once
#include <hocket/stack/stack_pool.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct called_stack {
  stack_ref stack;
  called_stack* outer;  // the calling one; null: the caller's own stack
  void* caller_record;  // the record of the code that made the call
};

}}}  // namespace hocket::detail
