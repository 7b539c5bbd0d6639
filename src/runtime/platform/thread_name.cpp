#include "runtime/platform/thread_name.hpp"

#include <cstdio>
#include <pthread.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

void name_this_thread(const char* name, std::size_t index) noexcept {
  char text[16];  // of Linux, with the zero
  char number[8];
  const int digits = std::snprintf(number, sizeof number, "-%zu", index);
  std::snprintf(text, sizeof text, "%.*s%s", static_cast<int>(sizeof text) - 1 - digits, name, number);
  ::pthread_setname_np(::pthread_self(), text);
}

}}}  // namespace hocket::detail
