#include "native_bounds.hpp"

#include <cstddef>
#include <pthread.h>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

native_bounds bounds_of_this_thread() {
  pthread_attr_t attributes;
  const int error = ::pthread_getattr_np(::pthread_self(), &attributes);
  if (error != 0) throw std::system_error(error, std::system_category(), "hocket: the stack of a thread was not found");
  void* low = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&attributes, &low, &size);
  ::pthread_attr_destroy(&attributes);
  return {low, static_cast<std::byte*>(low) + size};
}

}}}  // namespace hocket::gc::detail
