// dlopen, dlclose: they run constructors and destructors under the loader's lock, which belongs to the thread. If a
// fiber parked there, then another fiber of the thread would be let in.
//
// Price: the loader takes our caller for the one that asks. So in a hooked fiber a name without a slash is not looked
// for in the run path of the library that calls.
#include "caller.hpp"
#include "next.hpp"
#include "scope_access.hpp"

#include <dlfcn.h>

namespace hocket::inline HOCKET_ABI::hook {
namespace {

// While it lives the fiber does not wait.
class no_wait {
 public:
  no_wait() noexcept : in_(*scope_access::innermost()) { scope_access::begin_trying(in_); }
  no_wait(const no_wait&) = delete;
  no_wait& operator=(const no_wait&) = delete;
  ~no_wait() { scope_access::end_trying(in_); }

 private:
  scope& in_;
};

}  // namespace
}  // namespace hocket::inline HOCKET_ABI::hook

namespace hook = hocket::hook;

extern "C" {

void* dlopen(const char* name, int mode) noexcept {
  const auto real = hook::find_next(hook::next.dlopen, "dlopen");
  if (!hook::is_hooked()) [[likely]]
    return real(name, mode);
  const hook::no_wait here;
  return real(name, mode);
}
int dlclose(void* library) noexcept {
  const auto real = hook::find_next(hook::next.dlclose, "dlclose");
  if (!hook::is_hooked()) [[likely]]
    return real(library);
  const hook::no_wait here;
  return real(library);
}

}  // extern "C"
