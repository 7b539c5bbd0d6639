#include "runtime/platform/thread_name.hpp"

#include <cstdio>
#include <cstring>
#include <pthread.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void name_this_thread(const char* name, std::size_t index) noexcept {
  char number[24];
  std::snprintf(number, sizeof number, "%zu", index);
  name_this_thread(name, number);
}

void name_this_thread(const char* name, const char* role) noexcept {
  char text[16];  // of Linux, with the zero
  const int length = static_cast<int>(sizeof text) - 2 - static_cast<int>(std::strlen(role));
  std::snprintf(text, sizeof text, "%.*s-%s", length > 0 ? length : 0, name, role);
  ::pthread_setname_np(::pthread_self(), text);
}

}}}  // namespace hocket::detail
