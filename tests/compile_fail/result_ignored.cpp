// An error that nobody looks at is at least a warning.
// expect: nodiscard
#pragma GCC diagnostic error "-Wunused-result"
#include <hocket/base/result.hpp>

hocket::result<void> write();
bool flush() {
#ifdef SHOULD_FAIL
  write();
#endif
  return write().has_value();
}
