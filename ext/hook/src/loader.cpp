// dlopen, dlclose run constructors and destructors under the loader's lock. Hazard: if a fiber parked there, then
// another fiber of the thread would enter, because the lock belongs to the thread. Prevented by no_wait.
//
// Cost: the loader takes our function for the caller. So in a hooked fiber a name without a slash is not searched in
// the run path of the calling library.
#include "caller.hpp"
#include "next.hpp"
#include "scope_access.hpp"

#include <dlfcn.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

// While it lives, the fiber does not wait.
class no_wait {
 public:
  no_wait() noexcept : in_(scope_access::innermost()) { scope_access::begin_trying(in_); }
  no_wait(const no_wait&) = delete;
  no_wait& operator=(const no_wait&) = delete;
  ~no_wait() { scope_access::end_trying(in_); }

 private:
  scope& in_;
};

using open_function = void* (*)(const char*, int) noexcept;
using close_function = int (*)(void*) noexcept;

open_function next_open() noexcept { return reinterpret_cast<open_function>(find_next(next.dlopen, "dlopen")); }
close_function next_close() noexcept { return reinterpret_cast<close_function>(find_next(next.dlclose, "dlclose")); }

[[gnu::noinline]] void* open_without_waits(const char* name, int mode) noexcept {
  const no_wait guard;
  return next_open()(name, mode);
}
[[gnu::noinline]] int close_without_waits(void* library) noexcept {
  const no_wait guard;
  return next_close()(library);
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

void* dlopen(const char* name, int mode) noexcept {
  const hook::open_function function = hook::is_hooked() ? &hook::open_without_waits : hook::next_open();
  return function(name, mode);
}
int dlclose(void* library) noexcept {
  const hook::close_function function = hook::is_hooked() ? &hook::close_without_waits : hook::next_close();
  return function(library);
}

}  // extern "C"
