// The exception state of a thread, which each coroutine must have for itself.
//
// The C++ ABI keeps the stack of caught exceptions and the count of uncaught ones per thread. Two coroutines of one
// thread that both suspend inside a catch block would swap their exceptions, silently; and a coroutine that is resumed
// by a destructor during unwinding would see uncaught_exceptions() > 0. So the state goes with the stack. It is almost
// always empty, hence it is looked at on every switch and moved only when it is not.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The head of __cxa_eh_globals as the Itanium C++ ABI defines it (section 2.2.2).
struct exception_globals {
  void* caught;
  unsigned int uncaught;

  bool empty() const noexcept { return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) == 0; }  // one branch
};

// This thread's. The address never changes while the thread lives: callers keep it. Where fibers are threads
// (context/seam/switch.hpp) there is nothing to move, and this is an object that stays empty.
exception_globals& current_exception_globals() noexcept;

}}}  // namespace hocket::detail
