#include "runtime/platform/code_site.hpp"

#include <cstdint>
#include <dlfcn.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

code_site place_of(const void* address) noexcept {
  Dl_info known{};
  if (!address || ::dladdr(const_cast<void*>(address), &known) == 0) return {};
  const void* from = known.dli_sname ? known.dli_saddr : known.dli_fbase;
  return {known.dli_fname, known.dli_sname,
          reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(from)};
}

}}}  // namespace hocket::detail
