// Keeps a stack where it is while an object lives on it that others write to: a scope, whose children tell it that they
// have ended. A member of the object.
//
// Only a fiber that was spawned with `hibernate_after` has a stack that moves and can be pinned. On a copied stack,
// which must move, such an object is fatal: spawn the fiber with a stack of its own. Elsewhere (in a task's frame, on
// the heap, on an ordinary stack) this does nothing.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class stack_pin {
 public:
  // `what` names the object, for the message.
  stack_pin(const void* object, const char* what) noexcept;
  stack_pin(const stack_pin&) = delete;
  stack_pin& operator=(const stack_pin&) = delete;
  ~stack_pin();

 private:
  void* const pinned_;
};

}}}  // namespace hocket::detail
